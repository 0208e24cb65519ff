import UVRunLoop

/// The ports of a group, and how far its end is.
///
/// A value behind the group's lock.
struct ConnectionGroupState: Sendable {
    typealias SocketPort = UVRunLoop.SocketPort
    typealias Outcome = UVRunLoop.ConnectionGroup.Outcome
    typealias Completion = HomeBound<(Outcome) -> Void>

    /// The connections by their receivers, in the order in which they were added.
    struct Connections: Sendable {
        private struct Member: Sendable {
            let serial: UInt64
            let port: SocketPort
        }

        private var members: [ObjectIdentifier: Member] = [:]
        private var lastSerial: UInt64 = 0

        var count: Int { members.count }

        var values: [SocketPort] {
            members.values.sorted { $0.serial < $1.serial }.map(\.port)
        }

        /// Returns whether the connection was stored: not if it was there.
        mutating func insert(_ port: SocketPort, _ stream: StreamReceiver) -> Bool {
            let key = ObjectIdentifier(stream)
            guard members[key] == nil else { return false }
            lastSerial += 1
            members[key] = Member(serial: lastSerial, port: port)
            return true
        }

        mutating func remove(_ stream: StreamReceiver) -> SocketPort? {
            members.removeValue(forKey: ObjectIdentifier(stream))?.port
        }

        mutating func removeAll() -> [SocketPort] {
            defer { members = [:] }
            return values
        }
    }

    struct Ending: Sendable {
        var outcome = Outcome()
        var completions: [Completion] = []
        /// Cuts the connections at the deadline.
        var timer: UVRunLoop.Timer?
        var deadline: UVRunLoop.Instant?
        /// Whether goodbye was said to all connections that were there.
        fileprivate(set) var hasBegun = false
        /// Whether no connection is left, and none is accepted any more.
        ///
        /// It becomes so together with the last one's removal: what came between that and the
        /// completion would have no deadline.
        fileprivate(set) var isOver = false
    }

    private var listeners: [SocketPort] = []
    var connections = Connections()
    /// `nil` until the end begins.
    var ending: Ending?

    // MARK: In

    /// Returns whether the listener was stored: not after the end has begun.
    mutating func insert(listener: SocketPort) -> Bool {
        guard ending == nil else { return false }
        listeners.removeAll { !$0.isValid }
        listeners.append(listener)
        return true
    }

    /// The result of adding a connection.
    enum Entry: Sendable {
        /// `isLate` if it has to be notified that the end has begun.
        case stored(isLate: Bool)
        case wasThere
        /// The end is over.
        case refused
    }

    mutating func insert(_ connection: SocketPort, _ stream: StreamReceiver) -> Entry {
        guard ending?.isOver != true else { return .refused }
        let isNew = connections.insert(connection, stream)
        return isNew ? .stored(isLate: ending != nil) : .wasThere
    }

    // MARK: Out

    /// Removes a connection that has become invalid.
    ///
    /// - Returns: The connection, to be released without the lock, and whether it was the last one
    ///   of a group that ends.
    mutating func remove(
        _ stream: StreamReceiver,
        failed: Bool
    ) -> (connection: SocketPort?, isLast: Bool) {
        // One that was cut is not there.
        guard let connection = connections.remove(stream) else { return (nil, false) }
        if failed { ending?.outcome.failed += 1 } else { ending?.outcome.finished += 1 }
        closeIfEmpty()
        return (connection, isDone)
    }

    /// Begins the end; returns the ports if it had not begun.
    mutating func begin() -> (listeners: [SocketPort], connections: [SocketPort])? {
        guard ending == nil else { return nil }
        ending = Ending()
        return (exchange(&listeners, with: []), connections.values)
    }

    /// Called when goodbye was said to all connections that were there.
    mutating func didBegin() {
        ending?.hasBegun = true
        closeIfEmpty()
    }

    private mutating func closeIfEmpty() {
        if ending?.hasBegun == true, connections.count == 0 { ending?.isOver = true }
    }

    /// Whether the end has begun and all connections have ended.
    var isDone: Bool { ending?.hasBegun == true && ending?.isOver == true }

    /// Stores a timer, if it is the soonest.
    ///
    /// - Returns: The timer to invalidate: the one before, or this one.
    mutating func set(_ timer: UVRunLoop.Timer, at date: UVRunLoop.Instant) -> UVRunLoop.Timer? {
        if let deadline = ending?.deadline, deadline <= date { return timer }
        let earlier = ending?.timer
        ending?.deadline = date
        ending?.timer = timer
        return earlier
    }

    /// Removes all connections, which are to be closed.
    mutating func cut() -> [SocketPort] {
        let rest = connections.removeAll()
        ending?.outcome.cut += rest.count
        ending?.isOver = true
        return rest
    }

    /// Takes what is to be reported to whom, and the timer to invalidate; `nil` unless the end is
    /// done.
    mutating func takeReport() -> (Outcome, [Completion], UVRunLoop.Timer?)? {
        guard isDone, var ending else { return nil }
        let (completions, timer) = (ending.completions, ending.timer)
        (ending.completions, ending.timer) = ([], nil)
        self.ending = ending
        return (ending.outcome, completions, timer)
    }
}
