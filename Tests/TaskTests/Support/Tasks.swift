@_exported import TestSupport

@testable import UVRunLoop

/// An actor whose executor is a loop.
actor Pinned {
    nonisolated let loop: UVRunLoop
    private(set) var count = 0

    init(_ loop: UVRunLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Counts a call; returns the number of calls before.
    @discardableResult
    func add() -> Int {
        count += 1
        return count - 1
    }

    /// Performs a body in the actor's isolation.
    func isolated<Result: Sendable>(
        _ body: @Sendable (isolated Pinned) async throws -> Result
    ) async rethrows -> Result {
        try await body(self)
    }

    func whileIsolated(_ body: @Sendable (isolated Pinned) throws -> Void) rethrows {
        try body(self)
    }
}

/// The result of the body of a test's task.
final class TaskEnd: Sendable {
    private let state = Guarded<Result<Void, any Error>?>(nil)

    var result: Result<Void, any Error>? { state.withLock { $0 } }

    func settle(_ result: Result<Void, any Error>) { state.withLock { $0 = result } }
}

/// Runs a loop in the default mode until a task that prefers it has ended.
///
/// On virtual time, everything happens on the calling thread: no job may need another.
func runTask(
    _ kind: DriverKind = .manual,
    _ body: @escaping @Sendable (UVRunLoop) async throws -> Void
) throws {
    try withLoop(kind) { loop, _ in try runTask(on: loop) { try await body(loop) } }
}

/// Runs a loop in the default mode until a task that prefers it has ended.
func runTask(on loop: UVRunLoop, _ body: @escaping @Sendable () async throws -> Void) throws {
    let end = TaskEnd()
    let keeper = UVRunLoop.Source { _ in }
    loop.add(keeper, forMode: .default)
    Task(executorPreference: loop.taskExecutor) {
        do {
            end.settle(.success(try await body()))
        } catch {
            end.settle(.failure(error))
        }
        loop.stop()
    }
    while end.result == nil { loop.run() }
    keeper.invalidate()
    try end.result?.get()
}

extension UVRunLoop.Thread {
    /// Waits for the end of the thread from a task, and keeps its thread meanwhile.
    func joinInTask() { join() }
}

extension Signal {
    /// Waits from a task, and keeps its thread meanwhile.
    func waitInTask() { wait() }
}

extension UVRunLoop {
    /// Queues a job that does something: the first of a task that prefers the loop.
    func queueJob(_ body: @escaping @Sendable () -> Void) {
        Task(executorPreference: taskExecutor) { body() }
    }
}

/// Waits for one element of a sequence.
func first<Sequence: AsyncSequence>(
    of sequence: Sequence
) async -> Sequence.Element? where Sequence.Failure == Never {
    var iterator = sequence.makeAsyncIterator()
    return await iterator.next(isolation: nil)
}

/// The first real-time signal; the C library keeps two for itself.
let SIGRTMIN_: CInt = 34
