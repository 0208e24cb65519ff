public import FoundationEssentials
public import UVRunLoop

// There are no selectors without Objective-C: code with a target and an action passes `Ticker.tick`
// instead of `#selector(tick)`.

extension UVRunLoop.Timer {
    /// Makes a timer that sends a target a message at a date; add it to a loop with
    /// `add(_:forMode:)`.
    ///
    /// The timer retains the target and `userInfo` until it is invalid.
    ///
    /// > Threading: The thread whose loop is to serve the timer, because the target stays on it.
    ///
    /// - Parameters:
    ///   - date: The first date to fire on.
    ///   - interval: The time between fires; zero or less is 0.0001 seconds.
    ///   - target: The receiver.
    ///   - selector: A method of the target, such as `Ticker.tick`.
    ///   - userInfo: The value of ``userInfo``.
    ///   - repeats: Whether to fire repeatedly.
    public convenience init<Target: AnyObject>(
        fireAt date: Date,
        interval: TimeInterval,
        target: Target,
        selector: @escaping (Target) -> (UVRunLoop.Timer) -> Void,
        userInfo: Any?,
        repeats: Bool
    ) {
        self.init(.on(date), interval, target, selector, userInfo, repeats)
    }

    /// Makes a timer that sends a target a message after an interval; add it to a loop with
    /// `add(_:forMode:)`.
    ///
    /// The timer retains the target and `userInfo` until it is invalid.
    ///
    /// > Threading: The thread whose loop is to serve the timer, because the target stays on it.
    ///
    /// - Parameters:
    ///   - interval: The time until the first fire and between fires; zero or less is 0.0001
    ///     seconds.
    ///   - target: The receiver.
    ///   - selector: A method of the target, such as `Ticker.tick`.
    ///   - userInfo: The value of ``userInfo``.
    ///   - repeats: Whether to fire repeatedly.
    public convenience init<Target: AnyObject>(
        timeInterval interval: TimeInterval,
        target: Target,
        selector: @escaping (Target) -> (UVRunLoop.Timer) -> Void,
        userInfo: Any?,
        repeats: Bool
    ) {
        self.init(.after(interval), interval, target, selector, userInfo, repeats)
    }

    /// Makes a timer that sends a target a message after an interval, and adds it to the default
    /// mode of the calling thread's loop.
    ///
    /// The timer retains the target and `userInfo` until it is invalid.
    ///
    /// > Threading: Any thread whose loop runs.
    ///
    /// - Parameters:
    ///   - interval: The time until the first fire and between fires; zero or less is 0.0001
    ///     seconds.
    ///   - target: The receiver.
    ///   - selector: A method of the target, such as `Ticker.tick`.
    ///   - userInfo: The value of ``userInfo``.
    ///   - repeats: Whether to fire repeatedly.
    /// - Returns: The timer.
    @available(
        *,
        noasync,
        message: "A task may resume on another thread. Make the timer, and add it to the loop."
    )
    @discardableResult
    public static func scheduledTimer<Target: AnyObject>(
        timeInterval interval: TimeInterval,
        target: Target,
        selector: @escaping (Target) -> (UVRunLoop.Timer) -> Void,
        userInfo: Any?,
        repeats: Bool
    ) -> UVRunLoop.Timer {
        let timer = UVRunLoop.Timer(
            timeInterval: interval,
            target: target,
            selector: selector,
            userInfo: userInfo,
            repeats: repeats
        )
        UVRunLoop.current.add(timer, forMode: .default)
        return timer
    }

    private convenience init<Target: AnyObject>(
        _ start: Start,
        _ interval: TimeInterval,
        _ target: Target,
        _ action: @escaping (Target) -> (UVRunLoop.Timer) -> Void,
        _ userInfo: Any?,
        _ repeats: Bool
    ) {
        let carried = UserInfo(userInfo)
        let handler = { (timer: UVRunLoop.Timer) in
            // Captured, so that it is released with the handler.
            withExtendedLifetime(carried) { action(target)(timer) }
        }
        self.init(start, interval, repeats, carried, home: .current, handler)
    }
}
