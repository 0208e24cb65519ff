/// The behaviour of a port-based source when its loop serves it.
@usableFromInline
package protocol PortReceiver: AnyObject, Sendable {
    /// Traps unless the port's handler may be called on a thread.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - caller: Returns what the message of the trap names.
    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller)

    /// What a description tells of the port, beside what all ports have.
    var fact: String? { get }

    /// Whether an event is pending that the kernel does not report.
    ///
    /// Asked without a lock when the port was added to a loop. So a sender stores its event under
    /// the lock that this takes, and announces the port afterwards: either this finds the event, or
    /// the sender finds the port in the loop.
    var isReady: Bool { get }

    /// Whether the port still has queued work, for which a thread that stops after its queued work
    /// waits.
    ///
    /// It may become `true` at any time. When it becomes `false`, the loop is serving the port, or
    /// the port is invalid.
    var isFinishing: Bool { get }

    /// Handles one event, on the loop's thread.
    ///
    /// - Parameters:
    ///   - port: The source, of a type that the receiver knows.
    ///   - events: The reported events; empty after ``UVRunLoop/PortLink/announce()``.
    /// - Returns: The result for the pass.
    func receive(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult

    /// Whether the port stays in its loop when the kernel refuses to watch its descriptor, because
    /// it has other events, or tells the refusal as one of its own; otherwise it is invalid then.
    var outlivesRefusal: Bool { get }

    /// Handles the kernel's refusal to watch the descriptor, on the loop's thread.
    ///
    /// - Parameters:
    ///   - port: The source, of a type that the receiver knows.
    ///   - error: The kernel's error.
    /// - Returns: The result for the pass.
    func receive(_ port: any AnyObject & Sendable, refusal error: UVError) -> ServeResult

    /// Handles more events of a port, which coming passes would deliver one by one.
    ///
    /// - Parameters:
    ///   - port: The source, of a type that the receiver knows.
    ///   - mayGoOn: To be called before each event.
    /// - Returns: The result for the pass.
    func receiveMore(_ port: any AnyObject & Sendable, while mayGoOn: () -> Bool) -> ServeResult

    /// Wakes the senders that wait for room; only for a port without a descriptor.
    ///
    /// Called when the port's handler runs the loop, in which the senders may be waited for, and
    /// when the port has joined a loop, on whose thread none may wait. Otherwise the receiver wakes
    /// them itself.
    func wakeBlockedSenders()

    /// Releases the port's handler; the port is invalid.
    func releaseHandler()

    /// Called on the loop's thread after the loop has ended; the port is in none.
    func loopDidEnd(_ port: any UVRunLoop.PortSource)
}

extension PortReceiver {
    package var fact: String? { nil }

    package var isReady: Bool { false }

    package var isFinishing: Bool { false }

    package var outlivesRefusal: Bool { false }

    package func wakeBlockedSenders() {}
}

/// The result of serving a port an event.
@usableFromInline
package struct ServeResult {
    /// Whether the port counts as a handled source.
    package var wasHandled: Bool
    /// Whether the port has more events, which the kernel may not report.
    @usableFromInline package var hasMore: Bool

    @usableFromInline
    package init(wasHandled: Bool, hasMore: Bool = false) {
        self.wasHandled = wasHandled
        self.hasMore = hasMore
    }
}
