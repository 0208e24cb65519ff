/// The behaviour of a port-based source when its loop serves it.
///
/// Its ports are all of one class, but the loop knows them as objects only. The downcast is in the
/// defaults, and checked: outside this package, a class may conform to ``UVRunLoop/PortSource``
/// with the link of another port. Those for each event are requirements and inlinable, so that a
/// receiver of another module specialises them: an unspecialised cast looks its type up at run
/// time.
@usableFromInline
package protocol PortReceiver: AnyObject, Sendable {
    /// The class of its ports.
    associatedtype Port: AnyObject & Sendable

    /// Traps unless the port's handler may be called on a thread.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - caller: Returns what the message of the trap names.
    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller)

    /// A fact about the port for its description, beside those of every port.
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
    ///   - port: The source.
    ///   - events: The reported events; empty after ``UVRunLoop/PortLink/announce(ofPoll:)``.
    /// - Returns: The result for the pass.
    func receive(port: Port, _ events: UVRunLoop.DescriptorEvents) -> ServeResult

    /// Whether the port stays in its loop when the kernel refuses to watch its descriptor, because
    /// it has other events, or tells the refusal as one of its own; otherwise it is invalid then.
    var outlivesRefusal: Bool { get }

    /// Handles the kernel's refusal to watch the descriptor, on the loop's thread; by default as a
    /// hang-up.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - error: The kernel's error.
    /// - Returns: The result for the pass.
    func receive(port: Port, refusal error: UVError) -> ServeResult

    /// Handles more events of a port, which coming passes would deliver one by one.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - mayGoOn: To be called before each event.
    /// - Returns: Whether the port has still more.
    func receiveMore(port: Port, while mayGoOn: () -> Bool) -> Bool

    /// Gives the senders that wait for room what there is; only for a port without a descriptor.
    ///
    /// Called when the port's handler runs the loop, in which the senders may be waited for.
    /// Otherwise the receiver does it itself.
    func handOverRoom()

    /// Has the senders that wait for room check whether they may; only for a port without a
    /// descriptor.
    ///
    /// Called when the port has joined a loop, on whose thread none may wait.
    func checkWaits()

    /// Called when the port was removed from a mode, on any thread.
    func portDidLeave(_ mode: UVRunLoop.Mode, of loop: UVRunLoop)

    /// Releases the port's handler; the port is invalid.
    func releaseHandler()

    /// Called on the loop's thread after the loop has ended; the port is in none.
    func loopDidEnd(port: Port)

    // MARK: As the loop calls it

    /// Handles one event of an object, which is a port of the receiver's.
    func receive(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult

    /// Handles more events of an object, which is a port of the receiver's.
    func receiveMore(_ port: any AnyObject & Sendable, while mayGoOn: () -> Bool) -> Bool
}

extension PortReceiver {
    package var fact: String? { nil }

    package var isReady: Bool { false }

    package var isFinishing: Bool { false }

    package var outlivesRefusal: Bool { false }

    package func handOverRoom() {}

    package func checkWaits() {}

    package func portDidLeave(_ mode: UVRunLoop.Mode, of loop: UVRunLoop) {}

    @inlinable
    package func receive(port: Port, refusal error: UVError) -> ServeResult {
        receive(port: port, .hangUp)
    }

    @inlinable
    package func receiveMore(port: Port, while mayGoOn: () -> Bool) -> Bool {
        while mayGoOn() {
            guard receive(port: port, []).hasMore else { return false }
        }
        return true
    }

    @inlinable
    package func loopDidEnd(port: Port) {}

    // MARK: As the loop calls it

    @inlinable
    package func receive(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        withCast(port, to: Port.self) { receive(port: $0, events) }
            ?? ServeResult(wasHandled: false)
    }

    @inlinable
    package func receiveMore(
        _ port: any AnyObject & Sendable,
        while mayGoOn: () -> Bool
    ) -> Bool {
        guard let port = port as? Port else { return false }
        return receiveMore(port: port, while: mayGoOn)
    }

    func receive(_ port: any AnyObject & Sendable, refusal error: UVError) -> ServeResult {
        (port as? Port).map { receive(port: $0, refusal: error) } ?? ServeResult(wasHandled: false)
    }

    func loopDidEnd(_ port: any AnyObject & Sendable) {
        if let port = port as? Port { loopDidEnd(port: port) }
    }
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
