import UVRunLoop

extension Operation {
    static let jobs = [
        Operation(
            "job",
            "a job of a task that prefers the loop, resumed by another thread, in batches of 100",
            count: 1_000,
            batch: 100
        ) { loop in
            loop.keep()
            let counter = JobCounter()
            let tasks = (0..<100).map { _ in Baton() }
            for baton in tasks {
                Task(executorPreference: loop.taskExecutor) {
                    while true {
                        await baton.wait()
                        counter.addOne()
                    }
                }
            }
            loop.makePass()
            return { count, round in
                counter.number = 0
                for _ in 0..<count / 100 {
                    // While the sender resumes tasks, the loop is awake, and waits for it.
                    PosixThread {
                        round.sender { for baton in tasks { baton.pass() } }
                    }.join()
                    round.loop { loop.makePass() }
                }
                precondition(counter.number == count, "Jobs were not performed.")
            }
        },
        Operation("job.own", "a job of a task that another on the loop resumed", count: 10_000) {
            loop in
            loop.keep()
            let end = LoopEnd(loop)
            let (left, right) = (Baton(), Baton())
            for (own, other) in [(left, right), (right, left)] {
                Task(executorPreference: loop.taskExecutor) {
                    while true {
                        await own.wait()
                        if end.countOne() { other.pass() }
                    }
                }
            }
            loop.makePass()
            return { count, round in
                round.loop {
                    left.pass()
                    end.run(count)
                }
            }
        },
        Operation(
            "job.actor",
            "a call of an actor on the loop by a task that prefers the loop",
            count: 10_000
        ) { loop in
            let counter = JobCounter()
            return callsByTask(loop) { actor, count in
                for _ in 0..<count {
                    await actor.add()
                    // Or the compiler would leave out the way back.
                    counter.addOne()
                }
            }
        },
        Operation(
            "job.switch",
            "a call of a nonisolated function by an actor on the loop, in a task that prefers it",
            count: 1_000
        ) { loop in
            let counter = JobCounter()
            return callsByTask(loop) { actor, count in await actor.callOut(counter, count) }
        },
        Operation(
            "job.actors",
            "a call of an actor on the loop by another one on the loop",
            count: 10_000
        ) { loop in
            let other = Pinned(loop)
            return pinned(loop) { actor, gate, end in
                while let count = await gate.next(isolation: actor) {
                    await actor.call(other, count)
                    end.count(count)
                }
            }
        },
        Operation("job.preferred", "the same in a task that prefers the loop", count: 10_000) {
            loop in
            let other = Pinned(loop)
            return callsByTask(loop) { actor, count in await other.call(actor, count) }
        },
        Operation(
            "await",
            "a pinned actor's wait for a timer of its loop that is due at once",
            count: 1_000
        ) { loop in
            pinned(loop) { actor, gate, end in
                while let count = await gate.next(isolation: actor) {
                    for _ in 0..<count {
                        try? await loop.sleep(for: .zero)
                        _ = end.countOne()
                    }
                }
            }
        },
        Operation("sleep", "a pinned actor's sleep of 2 ms", count: 100, needsTime: true) { loop in
            pinned(loop) { actor, gate, end in
                while let count = await gate.next(isolation: actor) {
                    for _ in 0..<count {
                        try? await loop.sleep(for: .milliseconds(2))
                        _ = end.countOne()
                    }
                }
            }
        },
        Operation("tick", "a date of a series, for a pinned actor", count: 100, needsTime: true) {
            loop in
            pinned(loop) { actor, gate, end in
                while let count = await gate.next(isolation: actor) {
                    var iterator = loop.ticks(every: .milliseconds(5)).makeAsyncIterator()
                    for _ in 0..<count {
                        _ = await iterator.next(isolation: actor)
                        _ = end.countOne()
                    }
                }
            }
        },
        Operation(
            "readiness",
            "a byte through a watched pipe, for a pinned actor, write and read included",
            count: 500
        ) { loop in
            readiness(loop) { body in pinned(loop, body) }
        },
        Operation(
            "readiness.preferred",
            "the same for an actor whose task prefers the loop",
            count: 500
        ) { loop in
            readiness(loop) { body in pinned(loop, preferring: true, body) }
        },
    ]

    /// Calls that a task makes which prefers the loop.
    private static func callsByTask(
        _ loop: UVRunLoop,
        _ body: @escaping @Sendable (Pinned, Int) async -> Void
    ) -> Rounds {
        loop.keep()
        let actor = Pinned(loop)
        let end = LoopEnd(loop)
        let gate = Gate(loop)
        Task(executorPreference: loop.taskExecutor) {
            while let count = await gate.next(isolation: nil) {
                await body(actor, count)
                end.count(count)
            }
        }
        gate.awaitTask()
        return { count, round in
            round.loop {
                gate.open(count)
                end.run(count)
            }
        }
    }

    /// The work of an actor whose executor is the loop.
    private static func pinned(
        _ loop: UVRunLoop,
        preferring isPreferred: Bool = false,
        _ body: @escaping @Sendable (isolated Pinned, Gate, LoopEnd) async -> Void
    ) -> Rounds {
        loop.keep()
        let actor = Pinned(loop)
        let end = LoopEnd(loop)
        let gate = Gate(loop)
        Task(executorPreference: isPreferred ? loop.taskExecutor : nil) {
            await body(actor, gate, end)
        }
        gate.awaitTask()
        return { count, round in
            round.loop {
                gate.open(count)
                end.run(count)
            }
        }
    }

    private static func readiness(
        _ loop: UVRunLoop,
        _ start: (@escaping @Sendable (isolated Pinned, Gate, LoopEnd) async -> Void) -> Rounds
    ) -> Rounds {
        let pipe = Pipe()
        return start { actor, gate, end in
            guard let events = try? loop.readiness(of: pipe.descriptors.reading, .readable) else {
                fatalError("The pipe cannot be watched.")
            }
            var iterator = events.makeAsyncIterator()
            while let count = await gate.next(isolation: actor) {
                for _ in 0..<count {
                    pipe.writeByte()
                    _ = await iterator.next(isolation: actor)
                    pipe.readByte()
                    _ = end.countOne()
                }
            }
        }
    }
}

/// An actor whose executor is a loop.
private actor Pinned {
    private nonisolated let loop: UVRunLoop
    private var count = 0

    init(_ loop: UVRunLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    @inline(never)
    func add() { count += 1 }

    func call(_ other: Pinned, _ count: Int) async {
        for _ in 0..<count {
            await other.add()
            add()
        }
    }

    func callOut(_ counter: JobCounter, _ count: Int) async {
        for _ in 0..<count {
            await addOne(to: counter)
            add()
        }
    }
}

/// Runs where the task prefers.
@inline(never)
private func addOne(to counter: JobCounter) async { counter.addOne() }

/// A continuation by which a task waits, time and again.
///
/// Unchecked, because the thread that resumes the task knows that it waits.
private final class Baton: @unchecked Sendable {
    private var continuation: UnsafeContinuation<Void, Never>?

    func wait() async { await withUnsafeContinuation { continuation = $0 } }

    func pass() { continuation?.resume() }
}

/// Where a task waits, between rounds, without going to the runtime's pool.
///
/// Unchecked, because only the loop's thread touches it.
private final class Gate: @unchecked Sendable {
    private let loop: UVRunLoop
    private var continuation: UnsafeContinuation<Int?, Never>?

    init(_ loop: UVRunLoop) { self.loop = loop }

    /// Waits for the next round; returns how many operations make it.
    func next(isolation: isolated (any Actor)?) async -> Int? {
        await withTaskExecutorPreference(loop.taskExecutor) {
            _ = isolation
            return await withUnsafeContinuation { continuation = $0 }
        }
    }

    /// Runs the loop until the task waits.
    func awaitTask() { while continuation == nil { loop.makePass() } }

    func open(_ count: Int) { continuation?.resume(returning: count) }
}

/// Counts what tasks on the loop have done, and ends the loop's run when it was enough.
///
/// Unchecked, because only the loop's thread touches it.
private final class LoopEnd: @unchecked Sendable {
    private let countdown: Countdown

    init(_ loop: UVRunLoop) { countdown = Countdown(loop) }

    func run(_ count: Int) { countdown.run(count) }

    /// Counts one; returns whether there is more to come.
    func countOne() -> Bool {
        countdown.countOne()
        return countdown.rest > 0
    }

    func count(_ number: Int) { for _ in 0..<number { countdown.countOne() } }
}

/// Counts jobs.
///
/// Unchecked, because only the loop's thread performs them.
private final class JobCounter: @unchecked Sendable {
    var number = 0

    @inline(never)
    func addOne() { number += 1 }
}
