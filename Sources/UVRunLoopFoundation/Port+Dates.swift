public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop.Port {
    /// Makes a port that drops its messages: it keeps a mode from being empty.
    ///
    /// > Threading: Any thread.
    public convenience init() {
        self.init(sendableHandler: { _, _ in })
    }

    /// Sends a message of some components.
    ///
    /// Otherwise as `send(_:limit:)`.
    ///
    /// > Threading: Any thread. Blocks it while the port has no room.
    ///
    /// - Parameters:
    ///   - limitDate: When to give up.
    ///   - msgid: What kind of message it is.
    ///   - components: What it says.
    ///   - receivePort: Where an answer may be sent to.
    ///   - headerSpaceReserved: Of no use here: a message has no header in memory.
    /// - Returns: Whether the message is on its way.
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

    /// Takes the port out of a mode of a loop.
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
