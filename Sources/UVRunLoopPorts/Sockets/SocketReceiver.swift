import UVRunLoop

/// Serves a socket: what a listener and a connection have in common.
protocol SocketReceiver: TypedPortReceiver where Port == UVRunLoop.SocketPort {
    /// What the kernel is to be asked for.
    var wanted: UVRunLoop.DescriptorSource.Events { get }

    /// Lends what the port owns, under the lock of the receiver's state.
    func withOwned<Result: Sendable>(_ body: (inout SocketBelongings) -> Result) -> Result

    /// Closes the socket, and lets go of what came with it.
    func close()
}

/// What a port owns until it is invalid, whatever its socket is.
struct SocketBelongings: ~Copyable, Sendable {
    typealias BoundHandler = Handler<UVRunLoop.SocketPort.Body>

    var handler: BoundHandler?
    var alarm: PortAlarm?
    /// `nil` once the port is invalid; nothing else is taken in then.
    var descriptor: Descriptor?

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = consume descriptor
    }

    /// Hands out the handler before, or this one when the port is invalid.
    fileprivate mutating func swap(_ handler: BoundHandler) -> BoundHandler? {
        descriptor == nil ? handler : exchange(&self.handler, with: handler)
    }

    /// Hands out the alarm before, or this one when the port is invalid.
    fileprivate mutating func swap(_ alarm: PortAlarm?) -> PortAlarm? {
        descriptor == nil ? alarm : exchange(&self.alarm, with: alarm)
    }

    fileprivate var home: HandlerHome { descriptor == nil ? .any : HandlerHome(handler) }
}

extension SocketReceiver {
    func checkHome(is thread: ThreadIdentity) { withOwned { $0.home }.check(thread) }

    /// The handler before, or this one when the port is invalid; to be let go of.
    func setHandler(_ handler: SocketBelongings.BoundHandler) -> SocketBelongings.BoundHandler? {
        withOwned { $0.swap(handler) }
    }

    /// Lends the socket; `nil` when it is closed.
    func withDescriptor<Result: Sendable>(
        _ body: (borrowing Descriptor) -> Result?
    ) -> Result? {
        withOwned { owned in
            switch owned.descriptor {
            case .some(let descriptor): body(descriptor)
            case .none: nil
            }
        }
    }

    /// Has the port served at a date; `nil` for no date.
    func renewAlarm(at date: UVRunLoop.Instant?, for port: UVRunLoop.SocketPort) {
        PortAlarm.renew(at: date, for: port) { alarm in withOwned { $0.swap(alarm) } }
    }

    func releaseHandler(in loop: UVRunLoop?) {
        // From here on there is nothing to give a handler or an alarm to.
        close()
        let alarm = withOwned { exchange(&$0.alarm, with: nil) }
        let handler = withOwned { exchange(&$0.handler, with: nil) }
        alarm?.cancel()
        handler?.release()
    }

    func loopDidEnd(port: UVRunLoop.SocketPort) {
        // What belongs to a thread that has ended can never be called again.
        if withOwned({ $0.handler?.home }) != nil { UVRunLoop.invalidate(port) }
    }
}

/// Where a port's handler may be called.
private enum HandlerHome: Sendable {
    case missing
    case any
    case only(ThreadIdentity)

    init(_ handler: SocketBelongings.BoundHandler?) {
        guard let handler else {
            self = .missing
            return
        }
        self = handler.home.map { .only($0.identity) } ?? .any
    }

    func check(_ thread: ThreadIdentity) {
        switch self {
        case .any: break
        case .missing:
            fail(
                "This connection has no handler. Give it one with setHandler(_:) before you add it."
            )
        case .only(let home):
            require(home == thread, ThreadBound<UVRunLoop.SocketPort.Body>.rule)
        }
    }
}
