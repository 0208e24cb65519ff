import UVRunLoop

/// Reads the replies to requests that were given up, on the thread for replies.
///
/// The other side reads no further message of a connection before it has sent its reply, and
/// nobody else may read it: the thread that gave the request up need not run its loop again.
final class LateReplySource: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink

    /// Starts to read; returns `false` if there can be no thread.
    static func start(for connection: RemoteConnection) -> Bool {
        guard let loop = try? ReplyThread.loop() else { return false }
        let source = LateReplySource(connection)
        loop.add(source, forMode: .common)
        // The replies may have been read meanwhile.
        source.link.announce()
        return true
    }

    private init(_ connection: RemoteConnection) {
        link = UVRunLoop.PortLink(
            descriptor: connection.socket.descriptor.number,
            events: .readable,
            order: 0,
            receiver: Receiver(connection)
        )
    }

    private final class Receiver: TypedPortReceiver {
        // Keeps the socket open while a loop watches it.
        private let connection: RemoteConnection

        init(_ connection: RemoteConnection) { self.connection = connection }

        func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {}

        func receive(
            port source: LateReplySource,
            _ events: UVRunLoop.DescriptorSource.Events
        ) -> ServeResult {
            connection.receive()
            if connection.endLateReading() { UVRunLoop.invalidate(source) }
            return ServeResult(wasHandled: true)
        }

        func releaseHandler() {}
    }
}
