import UVRunLoop

/// The handles of one loop for which other threads have asked for something, in turn.
///
/// The loop's thread performs some actions at a time, however many handles there are, for the sake
/// of everything else that it has to do.
///
/// > Threading: Any thread, except where a member says otherwise.
final class ActionTurns: Sendable {
    private struct State {
        var handles = FirstInFirstOut<LoopHandle>()
        /// Whether the loop's thread was asked to perform their actions.
        var isPosted = false
    }

    private let state = Guarded(State())

    /// The turns of a loop's handles.
    ///
    /// > Threading: The loop's thread.
    static func of(_ host: HandleHost) -> ActionTurns {
        if let turns = host.companion as? ActionTurns { return turns }
        let turns = ActionTurns()
        host.companion = turns
        return turns
    }

    /// How many actions the loop's thread performs at a time.
    private static let actionsInARound = 64

    /// Gives a turn to a handle that has none.
    func append(_ handle: LoopHandle) {
        let mustPost = state.withLock { state in
            state.handles.append(handle)
            return !exchange(&state.isPosted, with: true)
        }
        if mustPost { post(to: handle.loop) }
    }

    private func post(to loop: UVRunLoop) {
        guard !loop.onThread({ self.performActions(of: loop) }) else { return }
        // The thread has ended.
        var left = state.withLock { exchange(&$0, with: State()).handles }
        while let handle = left.takeFirst() { handle.dropActions() }
    }

    private func performActions(of loop: UVRunLoop) {
        for _ in 0..<Self.actionsInARound {
            guard let handle = state.withLock({ $0.handles.takeFirst() }) else { break }
            if handle.performAction() { state.withLock { $0.handles.append(handle) } }
        }
        let mustPost = state.withLock { state in
            state.isPosted = !state.handles.isEmpty
            return state.isPosted
        }
        if mustPost { post(to: loop) }
    }
}
