import Synchronization

/// The main dispatch queue as a port-based source of the main loop.
final class MainQueueSource: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    private static let serving = Atomic<Bool>(false)

    /// Whether a block of the queue is on the main thread's stack; read on that thread.
    static var isServing: Bool {
        get { serving.load(ordering: .relaxed) }
        set { serving.store(newValue, ordering: .relaxed) }
    }

    /// Creates the source; returns `nil` if the queue no longer belongs to the main thread, as
    /// after `dispatchMain()`.
    ///
    /// - Parameter wasRefused: Called, and the source is invalid, if the kernel has no room to
    ///   watch the queue.
    init?(wasRefused: @escaping @Sendable () -> Void) {
        let descriptor = DispatchMainQueue.descriptor
        guard descriptor >= 0 else { return nil }
        let server = MainQueueServer(descriptor, wasRefused)
        link = UVRunLoop.PortLink(
            descriptor: descriptor,
            events: .readable,
            order: 0,
            receiver: server
        )
    }
}

/// Runs the main queue's blocks when the loop serves it.
private final class MainQueueServer: PortReceiver {
    private let descriptor: CInt
    private let wasRefused: @Sendable () -> Void

    init(_ descriptor: CInt, _ wasRefused: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.wasRefused = wasRefused
    }

    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        require(thread == .main, "The main dispatch queue belongs to the main thread's run loop.")
    }

    /// Counts as a handled source, as with CFRunLoop.
    func receive(
        port: MainQueueSource,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        // The queue is serial: inside of one of its blocks nothing can come from it, and a nested
        // run that has nothing else to wait for would wait for ever.
        port.link.setKeepsModes(false)
        MainQueueSource.isServing = true
        defer {
            MainQueueSource.isServing = false
            port.link.setKeepsModes(true)
        }
        DispatchMainQueue.performBlocks(descriptor)
        return ServeResult(wasHandled: true)
    }

    func receive(port: MainQueueSource, refusal error: UVError) -> ServeResult {
        let result = receive(port: port, .hangUp)
        // Afterwards: within a block of the queue nothing else serves it.
        wasRefused()
        return result
    }

    func releaseHandler() {}
}
