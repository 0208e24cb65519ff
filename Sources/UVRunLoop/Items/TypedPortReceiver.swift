/// A receiver whose ports are all of one type.
///
/// It does the downcast that ``PortReceiver`` needs in one place. The cast is checked: outside this
/// package a class may conform to ``UVRunLoop/PortSource`` with the link of another port.
///
/// The defaults are inlinable, so that a receiver of another module specialises them: an
/// unspecialised cast looks its type up at run time.
@usableFromInline
package protocol TypedPortReceiver: PortReceiver {
    associatedtype Port: AnyObject & Sendable

    /// Handles one event, on the loop's thread, as ``PortReceiver/receive(_:_:)`` does.
    func receive(port: Port, _ events: UVRunLoop.DescriptorEvents) -> ServeResult

    /// Handles a refusal, as ``PortReceiver/receive(_:refusal:)`` does; by default as a hang-up.
    func receive(port: Port, refusal error: UVError) -> ServeResult

    /// Handles more events, as ``PortReceiver/receiveMore(_:while:)`` does.
    func receiveMore(port: Port, while mayGoOn: () -> Bool) -> ServeResult

    /// Called on the loop's thread after the loop has ended, as ``PortReceiver/loopDidEnd(_:)`` is.
    func loopDidEnd(port: Port)
}

extension TypedPortReceiver {
    @inlinable
    package func receive(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        withCast(port, to: Port.self) { receive(port: $0, events) }
            ?? ServeResult(wasHandled: false)
    }

    @inlinable
    package func receive(_ port: any AnyObject & Sendable, refusal error: UVError) -> ServeResult {
        withCast(port, to: Port.self) { receive(port: $0, refusal: error) }
            ?? ServeResult(wasHandled: false)
    }

    @inlinable
    package func receive(port: Port, refusal error: UVError) -> ServeResult {
        receive(port: port, .hangUp)
    }

    @inlinable
    package func receiveMore(
        _ port: any AnyObject & Sendable,
        while mayGoOn: () -> Bool
    ) -> ServeResult {
        guard let port = port as? Port else { return ServeResult(wasHandled: false) }
        return receiveMore(port: port, while: mayGoOn)
    }

    @inlinable
    package func receiveMore(port: Port, while mayGoOn: () -> Bool) -> ServeResult {
        var result = ServeResult(wasHandled: true, hasMore: true)
        while result.hasMore, mayGoOn() { result = receive(port: port, []) }
        return result
    }

    @inlinable
    package func loopDidEnd(_ port: any UVRunLoop.PortSource) {
        if let port = port as? Port { loopDidEnd(port: port) }
    }

    @inlinable
    package func loopDidEnd(port: Port) {}
}
