import UVRunLoop

/// A source that a task has the loop's thread create.
///
/// Only the block that creates it holds this object strongly: if the block is dropped, the loop has
/// ended.
///
/// > Threading: Any thread.
final class LoopStart<Source: UVRunLoop.PortSource>: Sendable {
    private enum State {
        case waiting
        case started(Source)
        /// Nobody wants the source any more.
        case abandoned
    }

    private let state = Guarded(State.waiting)
    private let end: WaitEnd<Source>

    init(_ wait: TaskWait<Source>) { end = WaitEnd(wait) }

    /// Creates the source, unless the task was cancelled, and adds it to the common modes.
    ///
    /// > Threading: The loop's own thread.
    func start(in loop: UVRunLoop, _ make: () throws -> Source) {
        guard state.withLock({ if case .waiting = $0 { true } else { false } }) else { return }
        do {
            let source = try make()
            let isWanted = state.withLock { state in
                guard case .waiting = state else { return false }
                state = .started(source)
                return true
            }
            guard isWanted else { return UVRunLoop.invalidate(source) }
            loop.add(source, forMode: .common)
            end.settle(.success(source))
        } catch {
            end.settle(.failure(error))
        }
    }

    /// Invalidates the source, or keeps it from being created.
    func abandon() {
        let started = state.withLock { exchange(&$0, with: .abandoned) }
        if case .started(let source) = started { UVRunLoop.invalidate(source) }
    }
}

extension UVRunLoop {
    /// Has the loop's thread create a source and add it to the common modes.
    ///
    /// - Parameters:
    ///   - isolation: The caller's actor.
    ///   - make: Creates the source; called on the loop's thread.
    /// - Returns: The source.
    /// - Throws: The error of `make`; `CancellationError` if the task is cancelled;
    ///   ``PerformError/threadEnded`` if the loop's thread ends first or has ended.
    func started<Source: PortSource>(
        isolation: isolated (any Actor)?,
        _ make: @escaping @Sendable () throws -> Source
    ) async throws -> Source {
        try Task.checkCancellation()
        let wait = TaskWait<Source>()
        let start = Weak(post(wait, make))
        do {
            return try await Self.outcome(of: wait, on: self, isolation: isolation) {}
        } catch {
            start.object?.abandon()
            throw error
        }
    }

    private func post<Source: PortSource>(
        _ wait: TaskWait<Source>,
        _ make: @escaping @Sendable () throws -> Source
    ) -> LoopStart<Source> {
        let start = LoopStart(wait)
        if isOnOwnThread {
            start.start(in: self, make)
        } else {
            perform(inModes: [.common]) { start.start(in: self, make) }
        }
        return start
    }

    /// Waits for the only event of a source that the loop's thread creates.
    func onlyEvent<Source: PortSource, Event: Sendable>(
        isolation: isolated (any Actor)?,
        of make: @escaping @Sendable (TaskWait<Event>) throws -> Source
    ) async throws -> Event {
        let wait = TaskWait<Event>()
        let source = try await started(isolation: isolation) { try make(wait) }
        return try await Self.outcome(of: wait, on: self, isolation: isolation) {
            UVRunLoop.invalidate(source)
        }
    }
}
