import BenchSupport
import Dispatch
import NIOCore
import NIOPosix
import UVRunLoop

/// Where tasks and actors run: one thread, or one queue, of a system.
final class TaskHost: Sendable {
    /// The executor of actors.
    let serial: any SerialExecutor
    /// The executor that tasks prefer.
    let preferred: any TaskExecutor
    private let endNow: @Sendable () -> Void

    init(
        serial: any SerialExecutor,
        preferred: any TaskExecutor,
        end: @escaping @Sendable () -> Void = {}
    ) {
        self.serial = serial
        self.preferred = preferred
        endNow = end
    }

    /// Ends the thread; called once, when no task needs it any more.
    func end() { endNow() }

    /// Starts a thread with a loop of this library's.
    static func ours() -> (UVRunLoop, TaskHost) {
        do {
            let thread = try UVRunLoop.Thread()
            let loop = thread.runLoop
            let host = TaskHost(serial: loop, preferred: loop.taskExecutor) {
                thread.stop()
                thread.join()
            }
            return (loop, host)
        } catch {
            fail("no thread could be started: \(error)")
        }
    }

    /// Starts a thread of SwiftNIO's.
    static func nio() -> (any EventLoop, TaskHost) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let host = TaskHost(serial: loop.executor, preferred: NIOTaskExecutor(loop)) {
            do { try group.syncShutdownGracefully() } catch { fail("SwiftNIO: \(error)") }
        }
        return (loop, host)
    }

    /// Makes a queue of Dispatch's.
    static func dispatch() -> (DispatchQueue, TaskHost) {
        let queue = DispatchQueue(label: "bench.tasks")
        let host = TaskHost(serial: QueueExecutor(queue), preferred: QueueTaskExecutor(queue))
        return (queue, host)
    }
}

/// Runs the jobs of tasks on an event loop of SwiftNIO's, which has no such executor of its own, as
/// it runs the jobs of actors.
private final class NIOTaskExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs the jobs of actors on a queue; on Linux, queues are no executors.
private final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Runs the jobs of tasks on a queue.
private final class QueueTaskExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// An actor that runs where it is told.
actor HostedActor {
    private nonisolated let host: TaskHost
    private nonisolated let executor: UnownedSerialExecutor
    private var count = 0

    init(on host: TaskHost) {
        self.host = host
        executor = host.serial.asUnownedSerialExecutor()
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

    @inline(never)
    func add() { count += 1 }

    /// Calls another actor again and again.
    ///
    /// It does something itself after each call, or the compiler would leave out the way back.
    func call(_ other: HostedActor, _ count: Int) async {
        for _ in 0..<count {
            await other.add()
            add()
        }
    }

    /// Does something in the actor's isolation.
    func perform<Result: Sendable>(
        _ body: @Sendable (isolated HostedActor) async -> Result
    ) async -> Result {
        await body(self)
    }
}

/// Starts a task, and waits until it has ended.
func waitForTask<Value: Sendable>(
    preferring executor: (any TaskExecutor)? = nil,
    _ body: @escaping @Sendable () async -> Value
) -> Value {
    let isDone = Latch()
    let slot = TaskSlot<Value>()
    Task(executorPreference: executor) {
        slot.value = await body()
        isDone.open()
    }
    isDone.wait()
    guard let value = slot.value else { fail("a task ended without a result.") }
    return value
}

/// Where a task leaves its result.
private final class TaskSlot<Value>: @unchecked Sendable { var value: Value? }

/// Nanoseconds that a task takes for each of so many turns.
func timeOfTask(
    _ count: Int,
    preferring executor: (any TaskExecutor)? = nil,
    _ body: @escaping @Sendable () async -> Void
) -> Double {
    let taken = waitForTask(preferring: executor) {
        let start = now()
        await body()
        return now() - start
    }
    return Double(taken) / Double(count)
}
