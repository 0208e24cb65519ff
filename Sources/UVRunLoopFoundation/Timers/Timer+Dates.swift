public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop.Timer {
    /// The date of the next fire, or, while the block runs, of this one.
    ///
    /// A date that was given is given back exactly; another is what the wall clock will show if
    /// nobody sets it. The date of an invalid timer is the reference date, the beginning of 2001.
    ///
    /// Setting it begins the series of dates anew. `Date.distantFuture` is never, and pauses the
    /// timer. It cannot bring an invalid timer back.
    ///
    /// > Threading: Any thread.
    public var fireDate: Date {
        get {
            guard isValid else { return Date(timeIntervalSinceReferenceDate: 0) }
            let instant = nextFireDate
            return notes?.date(of: instant) ?? ClockReading.now.date(of: instant)
        }
        set {
            let instant = ClockReading.now.instant(of: newValue)
            guard let instant = setNextFireDate(instant) else { return }
            notes?.note(newValue, for: instant)
        }
    }

    /// The seconds between fires; zero for a timer that fires once.
    ///
    /// > Threading: Any thread.
    public var timeInterval: TimeInterval { notes?.timeInterval ?? interval?.interval ?? 0 }

    /// What the timer was given to carry; `nil` for one with a block, and once it is invalid.
    ///
    /// > Threading: Any thread for what was given as `Sendable`, else the one that made the timer;
    /// traps elsewhere.
    public var userInfo: Any? { notes?.userInfo?.current }

    private var notes: TimerNotes? { companion as? TimerNotes }
}

extension UVRunLoop {
    /// What a timer is to Foundation, where that differs from a member of the timer's own in type
    /// alone.
    ///
    /// ``tolerance`` is a number of seconds here and a `Duration` there. Both can be used; where
    /// nothing tells which is meant, it is the seconds.
    ///
    /// > Threading: Any thread.
    public protocol TimerInSeconds: Timer {}
}

extension UVRunLoop.Timer: UVRunLoop.TimerInSeconds {}

extension UVRunLoop.TimerInSeconds {
    /// How many seconds a fire may be late so that one wake-up can serve several timers.
    ///
    /// Negative ones become zero.
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
