import UVRunLoop

/// The common part of the receivers of listeners and connections.
protocol SocketReceiver: PortReceiver where Port == UVRunLoop.SocketPort {
    /// The events to watch the socket for.
    var interest: UVRunLoop.DescriptorEvents { get }

    /// Lends the port's resources, under the lock of the receiver's state.
    func withResources<Result: Sendable>(_ body: (inout SocketResources) -> Result) -> Result

    /// Closes the socket and releases its other resources.
    func close()

    /// Fails the tasks that wait for something of the port, but not its sequence.
    func failWaits(_ error: any Error)
}

/// The resources that every port owns until it is invalid.
struct SocketResources: ~Copyable, Sendable {
    typealias BoundHandler = HomeBound<UVRunLoop.SocketPort.Body>

    var handler: BoundHandler?
    var alarm: PortAlarm?
    /// Whether a task gets the events instead of the handler.
    var isTaken = false
    /// Whether the port is in a group, which keeps it until it is invalid.
    var isInGroup = false
    /// `nil` once the port is invalid; no handler or alarm is stored then.
    var descriptor: Descriptor?

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = consume descriptor
    }

    /// Stores a handler.
    ///
    /// Returns the previous one, or the argument if the port is invalid.
    fileprivate mutating func swap(_ handler: BoundHandler) -> BoundHandler? {
        descriptor == nil ? handler : exchange(&self.handler, with: handler)
    }

    /// Stores an alarm.
    ///
    /// Returns the previous one, or the argument if the port is invalid.
    fileprivate mutating func swap(_ alarm: PortAlarm?) -> PortAlarm? {
        descriptor == nil ? alarm : exchange(&self.alarm, with: alarm)
    }

    /// Whether the port is of no use without its loop.
    ///
    /// A handler that is bound to an ended thread can never be called, and a group serves its ports
    /// in one loop only.
    fileprivate var endsWithLoop: Bool { isTaken || isInGroup || handler?.home.isAnywhere == false }

    /// Where its handler may be called; `nil` if it needs one and has none.
    fileprivate var home: Home? {
        descriptor == nil || isTaken ? .anywhere : handler?.home
    }
}

extension SocketReceiver {
    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        guard let home = withResources({ $0.home }) else {
            fail(
                "This connection has no handler. Set one with setHandler(_:) before adding it to a loop."
            )
        }
        home.check(is: thread, caller)
    }

    /// Stores a handler.
    ///
    /// Returns the one to release: the previous one, or the argument if the port is invalid.
    func setHandler(_ handler: SocketResources.BoundHandler) -> SocketResources.BoundHandler? {
        withResources { $0.swap(handler) }
    }

    /// Lends the socket; `nil` if it is closed.
    func withDescriptor<Result: Sendable>(
        _ body: (borrowing Descriptor) -> Result?
    ) -> Result? {
        withResources { resources in
            switch resources.descriptor {
            case .some(let descriptor): body(descriptor)
            case .none: nil
            }
        }
    }

    /// Sets the date at which the port is served; `nil` for none.
    func renewAlarm(at date: UVRunLoop.Instant?, for port: UVRunLoop.SocketPort) {
        PortAlarm.renew(at: date, for: port) { alarm in withResources { $0.swap(alarm) } }
    }

    func portDidLeave(_ mode: UVRunLoop.Mode, of loop: UVRunLoop) {
        withResources { $0.alarm }?.leave(mode, of: loop)
    }

    func releaseHandler() {
        // After this, handlers and alarms are no longer stored.
        close()
        let alarm = withResources { exchange(&$0.alarm, with: nil) }
        let handler = withResources { exchange(&$0.handler, with: nil) }
        alarm?.cancel()
        handler?.release()
    }

    func loopDidEnd(port: UVRunLoop.SocketPort) {
        failWaits(UVRunLoop.PerformError.threadEnded)
        if withResources({ $0.endsWithLoop }) { UVRunLoop.invalidate(port) }
    }
}
