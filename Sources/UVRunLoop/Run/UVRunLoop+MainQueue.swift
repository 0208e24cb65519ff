import Synchronization

extension UVRunLoop {
    // The main loop starts to serve the main dispatch queue when the program is found to use
    // libdispatch. Until then its main loop is like any other, and pays only for reading two words
    // of memory.

    /// Whether the main loop serves the main queue.
    enum MainQueueState: UInt8, AtomicRepresentable {
        /// Nothing to do: the loop serves the queue, or there is no queue or no loop.
        case settled
        /// libdispatch was not used yet.
        case unused
        /// Another thread uses libdispatch or is about to, and has woken the main loop.
        case notified
    }

    static let mainQueueState = Atomic<MainQueueState>(.settled)

    /// Starts to watch for use of libdispatch, once the main loop of this process exists.
    static func awaitMainQueue() {
        let state: MainQueueState = DispatchMainQueue.isPresent ? .unused : .settled
        mainQueueState.store(state, ordering: .releasing)
        if state == .unused {
            DispatchMainQueue.beforeMainActorUse { UVRunLoop.mainActorWillBeUsed() }
        }
    }

    /// Called before each use of the main actor.
    ///
    /// This may be the first use of libdispatch, by a thread without a loop or within a handler.
    /// The main thread's own use is found before it sleeps.
    private static func mainActorWillBeUsed() {
        guard mainQueueState.load(ordering: .relaxed) == .unused, ThreadIdentity.current != .main
        else { return }
        notifyMainLoop()
    }

    /// Serves the main queue from now on, if libdispatch was used since the last call.
    ///
    /// Called on the loop's thread wherever its own work may have used libdispatch. A loop of
    /// another thread wakes the main loop, which may be asleep without watching the queue's
    /// descriptor.
    @inline(__always)
    func registerMainQueue() {
        if Self.mainQueueState.load(ordering: .relaxed) != .settled { registerMainQueueIfUsed() }
    }

    @inline(never)
    private func registerMainQueueIfUsed() {
        let isNotified = isMain && Self.mainQueueState.load(ordering: .acquiring) == .notified
        guard isNotified || DispatchMainQueue.isInUse else { return }
        guard isMain else { return Self.notifyMainLoop() }
        Self.mainQueueState.store(.settled, ordering: .relaxed)
        if !serveMainQueue() { serveMainQueueLater() }
    }

    /// Serves the main queue, if there is one and a descriptor for it.
    ///
    /// - Returns: `false` if there is no descriptor.
    private func serveMainQueue() -> Bool {
        // libdispatch would end the process.
        guard (try? Descriptor.epollSet()) != nil else { return false }
        let source = MainQueueSource { [unowned self] in serveMainQueueLater() }
        if let source { add(source, forMode: .common) }
        return true
    }

    /// Tries again every 0.1 to 0.2 s, because nothing tells that there are descriptors again, or
    /// that the kernel has room to watch one; like the queue, the timer keeps the common modes from
    /// being empty.
    private func serveMainQueueLater() {
        let pause = Duration.milliseconds(100)
        let timer = Timer(
            after: pause,
            interval: pause,
            tolerance: pause,
            sendableHandler: { [unowned self] timer in
                if serveMainQueue() { timer.invalidate() }
            }
        )
        add(timer, forMode: .common)
    }

    private static func notifyMainLoop() {
        let (isFirst, _) = mainQueueState.compareExchange(
            expected: .unused,
            desired: .notified,
            ordering: .acquiringAndReleasing
        )
        guard isFirst, let main = MainLoop.loop else { return }
        main.waker.contentsDidChange()
    }
}
