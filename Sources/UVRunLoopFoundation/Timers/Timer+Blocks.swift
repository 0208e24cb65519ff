public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop.Timer {
    /// Makes a timer for a date; add it to a loop with `add(_:forMode:)`.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - date: The first date to fire on, converted once to the clock of the calling thread's
    ///     loop. A past date fires at once.
    ///   - interval: The time between fires, ignored for a timer that fires once; zero or less is
    ///     0.0001 seconds.
    ///   - repeats: Whether to fire repeatedly.
    ///   - block: Called on the loop's thread.
    @preconcurrency
    public convenience init(
        fire date: Date,
        interval: TimeInterval,
        repeats: Bool,
        block: @escaping @Sendable (UVRunLoop.Timer) -> Void
    ) {
        self.init(.on(date), interval, repeats, nil, home: .anywhere, block)
    }

    /// Makes a timer that fires after an interval; add it to a loop with `add(_:forMode:)`.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - interval: The time until the first fire and between fires; zero or less is 0.0001
    ///     seconds.
    ///   - repeats: Whether to fire repeatedly.
    ///   - block: Called on the loop's thread.
    @preconcurrency
    public convenience init(
        timeInterval interval: TimeInterval,
        repeats: Bool,
        block: @escaping @Sendable (UVRunLoop.Timer) -> Void
    ) {
        self.init(.after(interval), interval, repeats, nil, home: .anywhere, block)
    }

    /// Makes a timer that fires after an interval, and adds it to the default mode of the calling
    /// thread's loop.
    ///
    /// > Threading: Any thread whose loop runs.
    ///
    /// - Parameters:
    ///   - interval: The time until the first fire and between fires; zero or less is 0.0001
    ///     seconds.
    ///   - repeats: Whether to fire repeatedly.
    ///   - block: Called on the calling thread.
    /// - Returns: The timer.
    @available(
        *,
        noasync,
        message: "A task may resume on another thread. Make the timer, and add it to the loop."
    )
    @preconcurrency
    @discardableResult
    public static func scheduledTimer(
        withTimeInterval interval: TimeInterval,
        repeats: Bool,
        block: @escaping @Sendable (UVRunLoop.Timer) -> Void
    ) -> UVRunLoop.Timer {
        let timer = UVRunLoop.Timer(timeInterval: interval, repeats: repeats, block: block)
        UVRunLoop.current.add(timer, forMode: .default)
        return timer
    }

    /// The time of the first fire.
    enum Start {
        case on(Date)
        case after(TimeInterval)
    }

    /// Makes a timer.
    ///
    /// - Parameters:
    ///   - start: The time of the first fire.
    ///   - interval: The time between fires.
    ///   - repeats: Whether to fire repeatedly.
    ///   - userInfo: The timer's user info.
    ///   - loop: The loop that the timer is for; `nil` for one whose clock is the calling thread's.
    ///   - home: The thread that the handler belongs to.
    ///   - handler: Called on the loop's thread.
    convenience init(
        _ start: Start,
        _ interval: TimeInterval,
        _ repeats: Bool,
        _ userInfo: UserInfo?,
        for loop: UVRunLoop? = nil,
        home: Home,
        _ handler: @escaping (UVRunLoop.Timer) -> Void
    ) {
        let reading = ClockReading.now(for: loop)
        let (date, instant) =
            switch start {
            case .on(let date): (date, reading.instant(of: date))
            case .after(let interval): reading.after(Self.positive(interval))
            }
        let interval = repeats ? Self.positive(interval) : 0
        let companion = TimerCompanion(instant, date, interval, userInfo)
        self.init(
            at: instant,
            for: loop,
            interval: repeats ? Duration(interval: interval) : nil,
            companion: companion,
            home: home,
            handler
        )
        // A past date has become now, but `fireDate` returns it as given.
        companion.store(date, for: nextFireDate)
    }

    private static func positive(_ interval: TimeInterval) -> TimeInterval {
        interval > 0 ? interval : 0.0001
    }
}
