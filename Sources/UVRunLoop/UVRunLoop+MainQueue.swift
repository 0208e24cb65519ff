import Synchronization

extension UVRunLoop {
    // The main loop begins to serve the main dispatch queue when the program is seen to use
    // libdispatch, and not before: a program that does without pays nothing but a look at two words
    // in memory, and its main loop is like any other.

    /// How far the main loop is with the main queue.
    enum MainQueueState: UInt8, AtomicRepresentable {
        /// Nothing is to be done: the loop serves the queue, or there is no queue or no loop.
        case settled
        /// Nobody has used libdispatch yet.
        case unused
        /// Another thread uses it or is about to, and the main loop was told.
        case told
    }

    static let mainQueueState = Atomic<MainQueueState>(.settled)

    /// To be called when the main loop of this process was made.
    static func awaitMainQueue() {
        let state: MainQueueState = DispatchMainQueue.isPresent ? .unused : .settled
        mainQueueState.store(state, ordering: .releasing)
        if state == .unused { DispatchMainQueue.noteMainActor { UVRunLoop.noteMainActor() } }
    }

    /// Called before each use of the main actor.
    ///
    /// It may be the first use of libdispatch, by a thread without a loop or in the midst of a
    /// handler. What the main thread itself uses it sees before it sleeps.
    private static func noteMainActor() {
        guard mainQueueState.load(ordering: .relaxed) == .unused, ThreadIdentity.current != .main
        else { return }
        tellMainLoop()
    }

    /// To be called wherever a thread's own work may have used libdispatch since the last time, on
    /// the loop's thread.
    ///
    /// The main loop begins to serve the main queue. The loop of another thread tells the main
    /// one, which may be asleep without the descriptor that would wake it.
    @inline(__always)
    func noteMainQueue() {
        if Self.mainQueueState.load(ordering: .relaxed) != .settled { noteMainQueueIfUsed() }
    }

    @inline(never)
    private func noteMainQueueIfUsed() {
        let isTold = isMain && Self.mainQueueState.load(ordering: .acquiring) == .told
        guard isTold || DispatchMainQueue.isInUse else { return }
        guard isMain else { return Self.tellMainLoop() }
        Self.mainQueueState.store(.settled, ordering: .relaxed)
        if let source = MainQueueSource() { add(source, forMode: .common) }
    }

    private static func tellMainLoop() {
        let (isFirst, _) = mainQueueState.compareExchange(
            expected: .unused,
            desired: .told,
            ordering: .acquiringAndReleasing
        )
        guard isFirst, let main = existingMain else { return }
        if main.word.markChanged() { main.remote.wake() }
    }
}
