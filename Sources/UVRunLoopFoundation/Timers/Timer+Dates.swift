public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop.Timer {
    /// The date of the next fire, or, while the block runs, of this one.
    ///
    /// A date that was set is returned exactly, unless the timer was made by an initialiser without
    /// a `Date` or a `TimeInterval`, which has no room for it; any other is the wall-clock time of
    /// the fire, as far as the clock is not set in between. The date of an invalid timer is the
    /// reference date, the beginning of 2001.
    ///
    /// Setting it restarts the series of dates. The date is converted once to the clock of the loop
    /// that the timer is in, or else of the calling thread's loop. `Date.distantFuture` means
    /// never, and pauses the timer. Setting the date of an invalid timer has no effect.
    ///
    /// > Threading: Any thread.
    public var fireDate: Date {
        get {
            guard isValid else { return Date(timeIntervalSinceReferenceDate: 0) }
            let instant = nextFireDate
            return typedCompanion?.date(of: instant, in: loop)
                ?? ClockReading.now(for: loop).date(of: instant)
        }
        set {
            let instant = ClockReading.now(for: loop).instant(of: newValue)
            guard let instant = setNextFireDate(instant) else { return }
            typedCompanion?.store(newValue, for: instant)
        }
    }

    /// The seconds between fires; zero for a timer that fires once.
    ///
    /// > Threading: Any thread.
    public var timeInterval: TimeInterval {
        typedCompanion?.timeInterval ?? interval?.interval ?? 0
    }

    /// The value that the timer was made with; `nil` for a timer with a block, and once it is
    /// invalid.
    ///
    /// > Threading: Any thread for a value that was passed as `Sendable`, else the one that made
    /// > the timer; traps elsewhere.
    public var userInfo: Any? { isValid ? typedCompanion?.userInfo?.current : nil }

    private var typedCompanion: TimerCompanion? { companion as? TimerCompanion }
}

extension UVRunLoop {
    /// The members of Foundation's timer that differ from the timer's own in type only.
    ///
    /// ``tolerance`` is a number of seconds here and a `Duration` there. Both can be used; where
    /// the type is not given, the seconds are chosen.
    ///
    /// > Threading: Any thread.
    public protocol TimerInSeconds: Timer {}
}

extension UVRunLoop.Timer: UVRunLoop.TimerInSeconds {}

extension UVRunLoop.TimerInSeconds {
    /// How many seconds a fire may be delayed, so that one wake-up can serve several timers.
    ///
    /// Negative numbers become zero.
    ///
    /// > Threading: Any thread.
    public var tolerance: TimeInterval {
        get {
            let timer: UVRunLoop.Timer = self
            let tolerance: Duration = timer.tolerance
            return tolerance.interval
        }
        set {
            let timer: UVRunLoop.Timer = self
            timer.tolerance = Duration(interval: newValue)
        }
    }
}
