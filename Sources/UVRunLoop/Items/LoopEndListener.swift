/// Waits for a timer, of which it is the ``UVRunLoop/Timer/companion``, and is notified if the
/// timer's loop ends first.
///
/// > Threading: Called on the loop's thread, while no lock is held.
protocol LoopEndListener: AnyObject, Sendable {
    func loopDidEnd()
}

extension UVRunLoop.Timer {
    /// Creates a timer that something waits for.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - date: The first date, in nanoseconds of the loop's clock; it may be past.
    ///   - interval: The time between fires, as of the public initialisers.
    ///   - tolerance: How late a fire may be.
    ///   - listener: What waits.
    ///   - handler: Called on the loop's thread.
    convenience init(
        at date: Int64,
        interval: Duration? = nil,
        tolerance: Duration,
        waitingFor listener: any LoopEndListener,
        _ handler: @escaping @Sendable (UVRunLoop.Timer) -> Void
    ) {
        self.init(
            date: date,
            interval,
            tolerance,
            home: .anywhere,
            handler,
            companion: listener
        )
    }

    /// Tells what waits for the timer that the loop has ended.
    func loopDidEnd() {
        if let companion { (companion as? any LoopEndListener)?.loopDidEnd() }
    }
}
