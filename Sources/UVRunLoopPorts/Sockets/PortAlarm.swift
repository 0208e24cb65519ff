import UVRunLoop

/// A timer that has a port served at a date, in the modes that the port is in.
///
/// It only announces the port, which is then served as a source.
final class PortAlarm: Sendable {
    private let timer: UVRunLoop.Timer
    private let date: UVRunLoop.Instant
    private let loop: ObjectIdentifier

    /// Sets, keeps or cancels a port's alarm, and adds it to the port's modes.
    ///
    /// > Threading: The loop's own thread, with no lock held.
    ///
    /// - Parameters:
    ///   - date: When to serve the port; `nil` for no alarm.
    ///   - port: The port.
    ///   - swap: Stores an alarm and returns the previous one, or its argument if the port is
    ///     closed.
    static func renew(
        at date: UVRunLoop.Instant?,
        for port: UVRunLoop.SocketPort,
        swap: (PortAlarm?) -> PortAlarm?
    ) {
        let earlier = swap(nil)
        guard let date, let loop = port.link.loop else {
            earlier?.cancel()
            return
        }
        let alarm: PortAlarm
        if let earlier, earlier.isSet(at: date, in: loop) {
            alarm = earlier
        } else {
            earlier?.cancel()
            alarm = PortAlarm(at: date, for: port.link, in: loop)
        }
        for mode in loop.modes.union([.common]) where loop.contains(port, forMode: mode) {
            loop.add(alarm.timer, forMode: mode)
            // Another thread may have removed the port meanwhile.
            if !loop.contains(port, forMode: mode) { alarm.leave(mode, of: loop) }
        }
        swap(alarm)?.cancel()
    }

    private init(
        at date: UVRunLoop.Instant,
        for link: UVRunLoop.PortLink,
        in loop: UVRunLoop
    ) {
        self.date = date
        self.loop = ObjectIdentifier(loop)
        timer = UVRunLoop.Timer(at: date, sendableHandler: { [weak link] _ in link?.announce() })
    }

    private func isSet(at date: UVRunLoop.Instant, in loop: UVRunLoop) -> Bool {
        timer.isValid && self.date == date && self.loop == ObjectIdentifier(loop)
    }

    /// Leaves a mode with its port, which the alarm would keep from being empty.
    func leave(_ mode: UVRunLoop.Mode, of loop: UVRunLoop) { loop.remove(timer, forMode: mode) }

    func cancel() { timer.invalidate() }
}
