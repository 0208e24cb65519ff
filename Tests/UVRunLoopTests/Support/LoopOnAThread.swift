import Glibc

@testable import UVRunLoop

/// A thread whose loop runs until it is told to stop.
final class LoopOnAThread: Sendable {
    private final class State: Sendable {
        let loop = Guarded<UVRunLoop?>(nil)
        let isDone = Guarded(false)
    }

    let loop: UVRunLoop
    private let state: State
    private let thread: RunningThread

    /// - Parameter limit: How long each run may be.
    init(limit: Duration = .milliseconds(20)) {
        let state = State()
        self.state = state
        thread = startThread {
            let loop = UVRunLoop.current
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            state.loop.withLock { $0 = loop }
            // A stop that comes between two runs is nothing: a limit makes up for it.
            while !state.isDone.withLock({ $0 }) {
                loop.run(mode: .default, for: limit)
            }
        }
        while state.loop.withLock({ $0 == nil }) { usleep(100) }
        guard let loop = state.loop.withLock({ $0 }) else { preconditionFailure("No loop.") }
        self.loop = loop
    }

    func stop() {
        state.isDone.withLock { $0 = true }
        loop.stop()
    }

    /// Waits until the thread is gone.
    func join() { thread.join() }
}
