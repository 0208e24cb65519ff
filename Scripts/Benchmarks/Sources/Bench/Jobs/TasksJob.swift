import BenchSupport
import Dispatch
import NIOCore
import Results
import Synchronization
import UVRunLoop

extension Job {
    /// Tasks that other threads resume, time and again: resume, enqueue and run.
    ///
    /// They prefer the executor, so that only the pool's tasks go to the pool.
    static func resumedTasks(_ effort: Effort) -> Job {
        let count = effort.choose(400_000, quick: 100_000)
        func resume(_ host: TaskHost?, _ producers: Int) -> [Double] {
            defer { host?.end() }
            return [resumeTasks(count, from: producers, preferring: host?.preferred)]
        }
        return Job(
            rows: [Row(name: "tasks.resume", title: "Resume, enqueue and run a task")],
            sizes: [1, 4],
            sizeName: "threads that resume",
            contenders: [
                Contender(.uvRunLoop) { resume(TaskHost.ours().1, $0) },
                Contender(.nio) { resume(TaskHost.nio().1, $0) },
                Contender(.dispatch) { resume(TaskHost.dispatch().1, $0) },
                Contender(.pool) { resume(nil, $0) },
            ]
        )
    }

    /// An actor that awaits a timer, due at once, of the loop that is its executor.
    static func awaitingTasks(_ effort: Effort) -> Job {
        let count = effort.choose(50_000, quick: 10_000)
        return Job(
            rows: [Row(name: "tasks.await", title: "An actor awaits a timer of its own loop")],
            contenders: [
                Contender(.uvRunLoop) { _ in
                    let (loop, host) = TaskHost.ours()
                    return turns(of: host, count) { _ in try? await loop.sleep(for: .zero) }
                },
                Contender(.nio) { _ in
                    let (loop, host) = TaskHost.nio()
                    return turns(of: host, count) { _ in
                        try? await loop.scheduleTask(in: .zero) {}.futureResult.get()
                    }
                },
            ]
        )
    }

    /// An actor that awaits a block of the loop that is its executor.
    ///
    /// The actor's task prefers the loop where there is such a preference.
    static func answeredTasks(_ effort: Effort) -> Job {
        let count = effort.choose(100_000, quick: 20_000)
        return Job(
            rows: [Row(name: "tasks.answer", title: "An actor awaits a block of its own loop")],
            contenders: [
                Contender(.uvRunLoop) { _ in
                    let (loop, host) = TaskHost.ours()
                    return turns(of: host, count, isPreferred: true) { _ in
                        await withUnsafeContinuation { continuation in
                            loop.perform { continuation.resume() }
                        }
                    }
                },
                Contender(.nio) { _ in
                    let (loop, host) = TaskHost.nio()
                    return turns(of: host, count) { _ in
                        await withUnsafeContinuation { continuation in
                            loop.execute { continuation.resume() }
                        }
                    }
                },
                Contender(.dispatch) { _ in
                    let (queue, host) = TaskHost.dispatch()
                    return turns(of: host, count) { _ in
                        await withUnsafeContinuation { continuation in
                            queue.async { continuation.resume() }
                        }
                    }
                },
            ]
        )
    }

    /// An actor that calls another one on the same loop.
    static func actorCalls(_ effort: Effort) -> Job {
        let count = effort.choose(1_000_000, quick: 200_000)
        func calls(_ host: TaskHost) -> [Double] {
            defer { host.end() }
            let (caller, called) = (HostedActor(on: host), HostedActor(on: host))
            return [timeOfTask(count) { await caller.call(called, count) }]
        }
        return Job(
            rows: [Row(name: "tasks.actor", title: "An actor calls another one on its loop")],
            contenders: [
                Contender(.uvRunLoop) { _ in calls(TaskHost.ours().1) },
                Contender(.nio) { _ in calls(TaskHost.nio().1) },
                Contender(.dispatch) { _ in calls(TaskHost.dispatch().1) },
            ]
        )
    }

    /// A task that prefers a loop and calls an actor on that loop.
    static func callsByTasks(_ effort: Effort) -> Job {
        let count = effort.choose(1_000_000, quick: 200_000)
        func calls(_ host: TaskHost, _ count: Int) -> [Double] {
            defer { host.end() }
            let called = HostedActor(on: host)
            let tally = Tally(count) {}
            let taken = timeOfTask(count, preferring: host.preferred) {
                for _ in 0..<count {
                    await called.add()
                    // Or the compiler would leave out the way back.
                    tally.add()
                }
            }
            return [taken]
        }
        return Job(
            rows: [
                Row(name: "tasks.call", title: "A task calls an actor on the loop it prefers")
            ],
            contenders: [
                Contender(.uvRunLoop) { _ in calls(TaskHost.ours().1, count) },
                Contender(.nio) { _ in calls(TaskHost.nio().1, count / 20) },
                Contender(.dispatch) { _ in calls(TaskHost.dispatch().1, count / 20) },
            ]
        )
    }

    /// A byte through a watched pipe: for a handler, for a task that prefers the loop, for an actor
    /// whose task prefers it, and for an actor whose task does not.
    static func readiness(_ effort: Effort) -> Job {
        let count = effort.choose(50_000, quick: 10_000)
        return Job(
            rows: [
                Row(name: "tasks.readiness.handler", title: "A byte through a pipe, by a handler"),
                Row(name: "tasks.readiness", title: "The same by a task that prefers the loop"),
                Row(
                    name: "tasks.readiness.actor",
                    title: "The same by an actor whose task prefers the loop"
                ),
                Row(name: "tasks.readiness.plain", title: "The same by an actor on the loop"),
            ],
            contenders: [
                Contender(.uvRunLoop) { _ in
                    [
                        onOwnThread { bytesByHandler(count) },
                        bytesBySequence(count, isPreferred: true, inActor: false),
                        bytesBySequence(count, isPreferred: true, inActor: true),
                        bytesBySequence(count, isPreferred: false, inActor: true),
                    ]
                }
            ]
        )
    }

    /// Actors of two loops on one core that call each other, in processor time.
    static func hopsOnOneCore(_ effort: Effort) -> Job {
        let count = effort.choose(20_000, quick: 4_000)
        func hops(_ makeHost: @escaping () -> TaskHost) -> [Double] {
            let taken = OneCore.time(count) { count in
                let (home, away) = (makeHost(), makeHost())
                defer {
                    home.end()
                    away.end()
                }
                let (caller, called) = (HostedActor(on: home), HostedActor(on: away))
                return timeOfTask(count) { await caller.call(called, count) }
            }
            return [taken]
        }
        return Job(
            rows: [
                Row(
                    name: "tasks.hops",
                    title: "An actor's call of one on another loop, one core, in processor time"
                )
            ],
            contenders: [
                Contender(.uvRunLoop) { _ in hops { TaskHost.ours().1 } },
                Contender(.nio) { _ in hops { TaskHost.nio().1 } },
            ]
        )
    }

    /// Sleeps of an actor on a loop, and timers of that loop, in turn.
    static func sleepingTasks(_ effort: Effort) -> Job {
        let delays = Scatter.delays(
            effort.choose(300, quick: 100),
            in: 300_000..<5_000_000,
            seed: 7
        )
        return Job(
            rows: [
                Row(name: "tasks.timer.p50", title: "Lateness of a timer, p50"),
                Row(name: "tasks.timer.p99", title: "Lateness of a timer, p99"),
                Row(name: "tasks.sleep.p50", title: "Lateness of an actor's sleep, p50"),
                Row(name: "tasks.sleep.p99", title: "Lateness of an actor's sleep, p99"),
            ],
            contenders: [
                Contender(.uvRunLoop) { _ in
                    let (loop, host) = TaskHost.ours()
                    return latenesses(of: host, delays) { delay in
                        await timer(after: delay, on: loop)
                    } _: { _, delay in
                        try? await loop.sleep(for: .nanoseconds(delay))
                    }
                },
                Contender(.nio) { _ in
                    let (loop, host) = TaskHost.nio()
                    return latenesses(of: host, delays) { delay in
                        await nioTimer(after: delay, on: loop)
                    } _: { _, delay in
                        let deadline = NIODeadline.now() + .nanoseconds(delay)
                        try? await loop.scheduleTask(deadline: deadline) {}.futureResult.get()
                    }
                },
            ]
        )
    }

    /// A timer beside tasks that yield for ever.
    static func yieldingTasks(_ effort: Effort) -> Job {
        let delays = Scatter.delays(
            effort.choose(300, quick: 200),
            in: 300_000..<5_000_000,
            seed: 9
        )
        return Job(
            rows: [
                Row(name: "tasks.yield.p50", title: "Lateness of a timer beside tasks, p50"),
                Row(name: "tasks.yield.p99", title: "Lateness of a timer beside tasks, p99"),
            ],
            sizes: [1_000, 100_000],
            sizeName: "tasks that yield for ever",
            contenders: [
                Contender(.uvRunLoop) { size in
                    let (loop, host) = TaskHost.ours()
                    defer { host.end() }
                    let yielders = Yielders(size, preferring: host.preferred)
                    defer { yielders.end() }
                    let values = waitForTask {
                        var values: [Double] = []
                        for delay in delays {
                            values.append(await timer(after: delay, on: loop))
                        }
                        return values
                    }
                    return [values.value(atPercent: 50), values.value(atPercent: 99)]
                }
            ]
        )
    }
}

// MARK: Resumed tasks

/// Resumes tasks from some threads; nanoseconds for each.
func resumeTasks(
    _ count: Int,
    from producers: Int,
    preferring executor: (any TaskExecutor)?
) -> Double {
    let batches = count / producers / TaskBatch.size
    let gate = Gate(threads: producers + 1)
    let isDone = (0..<producers).map { _ in Latch() }
    let threads = isDone.map { isDone in
        let batch = TaskBatch(preferring: executor)
        return PosixThread {
            gate.pass()
            for _ in 0..<batches { batch.resumeAll() }
            isDone.open()
            batch.end()
        }
    }
    gate.pass()
    let taken = time { for latch in isDone { latch.wait() } }
    threads.forEach { $0.join() }
    return taken / Double(batches * TaskBatch.size * producers)
}

/// Tasks that wait to be resumed, again and again.
final class TaskBatch: Sendable {
    static let size = 1_000

    private let batons = (0..<size).map { _ in Baton() }
    private let running = Atomic<Int>(size)
    private let areWaiting = Latch()

    init(preferring executor: (any TaskExecutor)?) {
        for baton in batons {
            Task(executorPreference: executor) {
                while await baton.wait(noteWait: { self.noteEnd() }) {}
                self.noteEnd()
            }
        }
        areWaiting.wait()
    }

    private func noteEnd() {
        let isLast = running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
        if isLast { areWaiting.open() }
    }

    /// Resumes all, and returns when they wait again.
    func resumeAll() { resumeAll(true) }

    /// Lets the tasks end.
    func end() { resumeAll(false) }

    private func resumeAll(_ goesOn: Bool) {
        running.store(Self.size, ordering: .releasing)
        for baton in batons { baton.pass(goesOn) }
        areWaiting.wait()
    }
}

/// A baton that one task waits for.
///
/// Unchecked: a continuation is stored before its task counts itself as waiting, and used after all
/// have.
private final class Baton: @unchecked Sendable {
    private var continuation: UnsafeContinuation<Bool, Never>?

    func wait(noteWait: () -> Void) async -> Bool {
        await withUnsafeContinuation {
            continuation = $0
            noteWait()
        }
    }

    func pass(_ goesOn: Bool) { continuation?.resume(returning: goesOn) }
}

// MARK: Actors that wait

/// Nanoseconds for each turn of an actor's work.
private func turns(
    of host: TaskHost,
    _ count: Int,
    isPreferred: Bool = false,
    _ body: @escaping @Sendable (isolated HostedActor) async -> Void
) -> [Double] {
    defer { host.end() }
    let actor = HostedActor(on: host)
    let taken = timeOfTask(count, preferring: isPreferred ? host.preferred : nil) {
        await actor.perform { actor in for _ in 0..<count { await body(actor) } }
    }
    return [taken]
}

// MARK: Readiness

private func bytesByHandler(_ count: Int) -> Double {
    let loop = UVRunLoop.current
    let pipe = Pipe()
    let tally = Tally(count) { loop.stop() }
    let source = ourWatch(pipe.readEnd) { descriptor in
        readByte(from: descriptor)
        tally.add()
        if tally.left > 0 { writeByte(to: pipe.writeEnd) }
    }
    loop.add(source, forMode: .default)
    defer { source.invalidate() }
    return time {
        writeByte(to: pipe.writeEnd)
        loop.run()
    } / Double(count)
}

private func bytesBySequence(_ count: Int, isPreferred: Bool, inActor: Bool) -> Double {
    let (loop, host) = TaskHost.ours()
    defer { host.end() }
    let pipe = Pipe()
    let actor = HostedActor(on: host)
    return timeOfTask(count, preferring: isPreferred ? host.preferred : nil) {
        if inActor {
            await actor.perform { _ in await readBytes(count, from: pipe, loop) }
        } else {
            await readBytes(count, from: pipe, loop)
        }
    }
}

private func readBytes(
    _ count: Int,
    from pipe: Pipe,
    _ loop: UVRunLoop,
    isolation: isolated (any Actor)? = #isolation
) async {
    guard let sequence = try? loop.readiness(of: pipe.readEnd, .readable) else {
        fail("a pipe cannot be watched.")
    }
    writeByte(to: pipe.writeEnd)
    var left = count
    for await _ in sequence {
        readByte(from: pipe.readEnd)
        left -= 1
        if left == 0 { break }
        writeByte(to: pipe.writeEnd)
    }
    sequence.invalidate()
}

// MARK: Lateness

/// The lateness of timers and of sleeps in turn: p50 and p99 of each.
private func latenesses(
    of host: TaskHost,
    _ delays: [Int64],
    timer: @escaping @Sendable (Int64) async -> Double,
    _ sleep: @escaping @Sendable (isolated HostedActor, Int64) async -> Void
) -> [Double] {
    defer { host.end() }
    let actor = HostedActor(on: host)
    let (timers, sleeps) = waitForTask {
        await actor.perform { actor in
            var (timers, sleeps): ([Double], [Double]) = ([], [])
            for delay in delays {
                timers.append(await timer(delay))
                let due = now() + delay
                await sleep(actor, delay)
                sleeps.append(Double(now() - due))
            }
            return (timers, sleeps)
        }
    }
    return [timers, sleeps].flatMap { values in
        [values.value(atPercent: 50), values.value(atPercent: 99)]
    }
}

extension [Double] {
    /// The value that a share of all does not exceed; 0 if there is none.
    fileprivate func value(atPercent percent: Int) -> Double {
        guard !isEmpty else { return 0 }
        return sorted()[Swift.min(count * percent / 100, count - 1)]
    }
}

/// How late the handler of one timer is called.
private func timer(after delay: Int64, on loop: UVRunLoop) async -> Double {
    await withUnsafeContinuation { continuation in
        let due = now() + delay
        let timer = UVRunLoop.Timer(
            after: .nanoseconds(delay),
            sendableHandler: { _ in continuation.resume(returning: Double(now() - due)) }
        )
        loop.add(timer, forMode: .default)
    }
}

private func nioTimer(after delay: Int64, on loop: any EventLoop) async -> Double {
    await withUnsafeContinuation { continuation in
        let due = now() + delay
        loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(due))) {
            continuation.resume(returning: Double(now() - due))
        }
    }
}

// MARK: Tasks that yield

/// Tasks that prefer a loop and yield until they are told to end.
private final class Yielders: Sendable {
    private let isOver = Atomic<Bool>(false)
    private let rest: Atomic<Int>
    private let haveEnded = Latch()

    init(_ count: Int, preferring executor: any TaskExecutor) {
        rest = Atomic(count)
        for _ in 0..<count {
            Task(executorPreference: executor) {
                while !self.isOver.load(ordering: .relaxed) { await Task.yield() }
                self.noteEnd()
            }
        }
    }

    private func noteEnd() {
        let isLast = rest.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
        if isLast { haveEnded.open() }
    }

    /// Ends the tasks, and returns when they have ended.
    func end() {
        isOver.store(true, ordering: .relaxed)
        haveEnded.wait()
    }
}
