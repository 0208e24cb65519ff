import UVRunLoop

/// Sends and receives on a connection for all requests of tasks that one loop waits for.
///
/// It is a source of that loop, in its common modes. The requests have no descriptor: if each of
/// them watched the socket, each would be served for every event of it.
///
/// After the last request it stays in its loop, because another one usually follows, which then
/// needs no system call to watch the socket; it leaves when it is served twice without requests. The
/// first time may be for a request that has just been sent and has not joined. It does not keep a
/// mode from being empty; the requests do.
///
/// It watches for room while frames are queued, whoever has queued them.
final class RequestSource: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    private let receiver: Receiver
    private let requests = Guarded(Requests())

    private struct Requests {
        var all: [ObjectIdentifier: TaskRequest] = [:]
        /// Whether the source was served when there were none.
        var wasUnused = false
    }

    /// - Parameters:
    ///   - connection: The connection.
    ///   - socket: Its socket; `nil` if the connection has ended.
    ///   - loop: The loop, to which ``RemoteConnection/join(_:in:)`` adds the source.
    init(_ connection: RemoteConnection, _ socket: SharedSocket?, _ loop: UVRunLoop) {
        receiver = Receiver(connection, socket, loop)
        link = UVRunLoop.PortLink(
            descriptor: socket?.descriptor.number,
            events: .readable,
            order: 0,
            keepsModes: false,
            receiver: receiver
        )
    }

    var loop: UVRunLoop { receiver.loop }

    // They change under the connection's lock.
    var hasRequests: Bool { requests.withLock { !$0.all.isEmpty } }

    func insert(_ request: TaskRequest) {
        requests.withLock { requests in
            requests.all[ObjectIdentifier(request)] = request
            requests.wasUnused = false
        }
    }

    func remove(_ request: TaskRequest) {
        requests.withLock { _ = $0.all.removeValue(forKey: ObjectIdentifier(request)) }
    }

    /// For what the source is served.
    private enum Use {
        case requests
        case none
        /// None, as the last time.
        case noneAgain
    }

    private func recordUse() -> Use {
        requests.withLock { requests in
            guard requests.all.isEmpty else { return .requests }
            return exchange(&requests.wasUnused, with: true) ? .noneAgain : .none
        }
    }

    /// Leaves the loop, unless requests wait, which the socket tells of the end.
    func connectionDidEnd() {
        if !hasRequests { UVRunLoop.invalidate(self) }
    }

    /// Watches for room if frames are queued, and else no longer.
    func watchForRoom() {
        link.setEvents { [connection = receiver.connection] in
            connection.hasQueuedFrames ? [.readable, .writable] : .readable
        }
    }

    private func forEachRequest(_ body: (TaskRequest) -> Void) {
        for request in requests.withLock({ Array($0.all.values) }) { body(request) }
    }

    private final class Receiver: PortReceiver {
        let connection: RemoteConnection
        // Keeps the socket open while a loop watches it.
        private let socket: SharedSocket?
        let loop: UVRunLoop

        init(_ connection: RemoteConnection, _ socket: SharedSocket?, _ loop: UVRunLoop) {
            self.connection = connection
            self.socket = socket
            self.loop = loop
        }

        func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {}

        func receive(
            port source: RequestSource,
            _ events: UVRunLoop.DescriptorEvents
        ) -> ServeResult {
            let use = source.recordUse()
            connection.receive()
            if events.contains(.writable) {
                connection.sendQueuedFrames()
                source.watchForRoom()
            }
            if let reason = connection.reasonOfEnd {
                source.forEachRequest { $0.connectionDidEnd(reason) }
            } else if use == .noneAgain {
                connection.removeUnused(source)
            }
            return ServeResult(wasHandled: use == .requests)
        }

        /// Nothing tells of a reply or of room to send, so the requests fail.
        func receive(port source: RequestSource, refusal error: UVError) -> ServeResult {
            connection.remove(source)
            // A reply may be there already.
            connection.receive()
            source.forEachRequest { $0.expire(MessagePortError(error)) }
            return ServeResult(wasHandled: true)
        }

        func releaseHandler() {}

        func loopDidEnd(port source: RequestSource) { connection.remove(source) }
    }
}
