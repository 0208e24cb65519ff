import UVRunLoop

/// A source that is ready when the socket of a connection is, besides those that receive replies.
final class ConnectionSource: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink

    /// Creates a source, which counts as handled whenever it is served.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - events: The events to wait for.
    ///   - serve: Called when the source is served.
    init(
        _ connection: RemoteConnection,
        _ events: UVRunLoop.DescriptorEvents,
        _ serve: @escaping @Sendable (ConnectionSource) -> Void = { _ in }
    ) {
        let receiver = Receiver(connection, serve)
        link = UVRunLoop.PortLink(
            descriptor: receiver.socket?.descriptor.number,
            events: events,
            order: 0,
            receiver: receiver
        )
    }

    private final class Receiver: PortReceiver {
        // Keeps the socket open while a loop watches it.
        let socket: SharedSocket?
        private let serve: @Sendable (ConnectionSource) -> Void

        init(
            _ connection: RemoteConnection,
            _ serve: @escaping @Sendable (ConnectionSource) -> Void
        ) {
            socket = connection.socket
            self.serve = serve
        }

        func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {}

        func receive(
            port source: ConnectionSource,
            _ events: UVRunLoop.DescriptorEvents
        ) -> ServeResult {
            serve(source)
            return ServeResult(wasHandled: true)
        }

        func releaseHandler() {}
    }
}
