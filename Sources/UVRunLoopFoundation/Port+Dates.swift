public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop.Port {
    /// Makes a port that drops its messages; its use is to keep a mode from being empty.
    ///
    /// > Threading: Any thread.
    public convenience init() {
        self.init(sendableHandler: { _, _ in })
    }

    /// Sends a message made of components, as `send(_:limit:)` does.
    ///
    /// > Threading: Any thread. Blocks it while the port's queue is full.
    ///
    /// - Parameters:
    ///   - limitDate: When to give up.
    ///   - msgid: The message's id, of which the lower 32 bits are sent.
    ///   - components: The message's contents.
    ///   - receivePort: The port for a reply.
    ///   - headerSpaceReserved: Ignored: a message has no header in memory.
    /// - Returns: Whether the message was queued.
    @discardableResult
    public func send(
        before limitDate: Date,
        msgid: Int = 0,
        components: [UVRunLoop.PortMessage.Component]?,
        from receivePort: UVRunLoop.Port?,
        reserved headerSpaceReserved: Int = 0
    ) -> Bool {
        let message = UVRunLoop.PortMessage(
            id: Int32(truncatingIfNeeded: msgid),
            components: components ?? [],
            replyPort: receivePort
        )
        return send(message, limit: Duration(interval: limitDate.timeIntervalSinceNow))
    }

    /// Adds the port to a mode of a loop.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - runLoop: The loop.
    ///   - mode: The mode.
    public func schedule(in runLoop: UVRunLoop, forMode mode: UVRunLoop.Mode) {
        runLoop.add(self, forMode: mode)
    }

    /// Removes the port from a mode of a loop.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - runLoop: The loop.
    ///   - mode: The mode.
    public func remove(from runLoop: UVRunLoop, forMode mode: UVRunLoop.Mode) {
        runLoop.remove(self, forMode: mode)
    }
}
