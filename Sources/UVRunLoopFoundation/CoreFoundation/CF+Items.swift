import FoundationEssentials
public import UVRunLoop

extension UVRunLoop.CF {
    // MARK: Sources

    /// Signals a custom source, without waking a loop.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter source: The source.
    public static func sourceSignal(_ source: UVRunLoop.Source) { source.signal() }

    /// Whether a custom source may still be performed.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter source: The source.
    /// - Returns: `true` until it is invalidated.
    public static func sourceIsValid(_ source: UVRunLoop.Source) -> Bool { source.isValid }

    /// Invalidates a custom source, which removes it from its loops.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter source: The source.
    public static func sourceInvalidate(_ source: UVRunLoop.Source) { source.invalidate() }

    // MARK: Observers

    /// Makes an observer.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - activities: The points at which to call.
    ///   - repeats: Whether to stay after the first call.
    ///   - order: The position among the observers of a mode; lower ones are called first.
    ///   - handler: Called on the loop's thread.
    /// - Returns: The observer.
    public static func observerCreateWithHandler(
        _ activities: UVRunLoop.Activities,
        _ repeats: Bool,
        _ order: Int,
        _ handler: @escaping @Sendable (UVRunLoop.Observer, UVRunLoop.Activities) -> Void
    ) -> UVRunLoop.Observer {
        UVRunLoop.Observer(
            activities: activities,
            repeats: repeats,
            order: order,
            sendableHandler: handler
        )
    }

    /// Whether an observer may still be called.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter observer: The observer.
    /// - Returns: `true` until it is invalidated.
    public static func observerIsValid(_ observer: UVRunLoop.Observer) -> Bool { observer.isValid }

    /// Invalidates an observer, which removes it from its loop.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter observer: The observer.
    public static func observerInvalidate(_ observer: UVRunLoop.Observer) { observer.invalidate() }

    // MARK: Timers

    /// The current date.
    ///
    /// > Threading: Any thread.
    ///
    /// - Returns: Seconds since the beginning of 2001.
    public static func absoluteTimeGetCurrent() -> TimeInterval {
        Date.now.timeIntervalSinceReferenceDate
    }

    /// Makes a timer.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - fireDate: The first date to fire on, in seconds since the beginning of 2001.
    ///   - interval: The seconds between fires; zero or less fires once.
    ///   - handler: Called on the loop's thread.
    /// - Returns: The timer.
    public static func timerCreateWithHandler(
        _ fireDate: TimeInterval,
        _ interval: TimeInterval,
        _ handler: @escaping @Sendable (UVRunLoop.Timer) -> Void
    ) -> UVRunLoop.Timer {
        UVRunLoop.Timer(
            fire: Date(timeIntervalSinceReferenceDate: fireDate),
            interval: interval,
            repeats: interval > 0,
            block: handler
        )
    }

    /// The date of a timer's next fire.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter timer: The timer.
    /// - Returns: Seconds since the beginning of 2001; zero for an invalid timer.
    public static func timerGetNextFireDate(_ timer: UVRunLoop.Timer) -> TimeInterval {
        timer.fireDate.timeIntervalSinceReferenceDate
    }

    /// Sets the date of a timer's next fire.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - fireDate: Seconds since the beginning of 2001.
    public static func timerSetNextFireDate(_ timer: UVRunLoop.Timer, _ fireDate: TimeInterval) {
        timer.fireDate = Date(timeIntervalSinceReferenceDate: fireDate)
    }

    /// The seconds between a timer's fires.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter timer: The timer.
    /// - Returns: The seconds; zero for a timer that fires once.
    public static func timerGetInterval(_ timer: UVRunLoop.Timer) -> TimeInterval {
        timer.timeInterval
    }

    /// Whether a timer repeats.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter timer: The timer.
    /// - Returns: `true` if it does.
    public static func timerDoesRepeat(_ timer: UVRunLoop.Timer) -> Bool { timer.interval != nil }

    /// How many seconds a timer's fires may be late.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter timer: The timer.
    /// - Returns: The seconds.
    public static func timerGetTolerance(_ timer: UVRunLoop.Timer) -> TimeInterval {
        timer.tolerance
    }

    /// Sets how many seconds a timer's fires may be late.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - tolerance: The seconds; negative ones become zero.
    public static func timerSetTolerance(_ timer: UVRunLoop.Timer, _ tolerance: TimeInterval) {
        timer.tolerance = tolerance
    }

    /// Whether a timer may still fire.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter timer: The timer.
    /// - Returns: `true` until it is invalidated, or has fired if it does not repeat.
    public static func timerIsValid(_ timer: UVRunLoop.Timer) -> Bool { timer.isValid }

    /// Invalidates a timer, which removes it from its loop.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter timer: The timer.
    public static func timerInvalidate(_ timer: UVRunLoop.Timer) { timer.invalidate() }

    /// The date of a mode's next timer.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode.
    /// - Returns: Seconds since the beginning of 2001; zero when the mode has no timer.
    public static func getNextTimerFireDate(
        _ loop: UVRunLoop,
        _ mode: UVRunLoop.Mode
    ) -> TimeInterval {
        guard let instant = loop.nextFireDate(forMode: mode) else { return 0 }
        return ClockReading.now(for: loop).date(of: instant).timeIntervalSinceReferenceDate
    }
}
