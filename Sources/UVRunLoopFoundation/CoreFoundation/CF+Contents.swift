public import UVRunLoop

// Each function calls the loop's `add(_:forMode:)`, `remove(_:forMode:)` or `contains(_:forMode:)`.

extension UVRunLoop.CF {
    // MARK: Custom sources

    /// Adds a custom source to a mode.
    ///
    /// A second add and an invalid source are ignored.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - source: The source.
    ///   - mode: The mode.
    public static func addSource(
        _ loop: UVRunLoop,
        _ source: UVRunLoop.Source,
        _ mode: UVRunLoop.Mode
    ) {
        loop.add(source, forMode: mode)
    }

    /// Removes a custom source from a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - source: The source.
    ///   - mode: The mode.
    public static func removeSource(
        _ loop: UVRunLoop,
        _ source: UVRunLoop.Source,
        _ mode: UVRunLoop.Mode
    ) {
        loop.remove(source, forMode: mode)
    }

    /// Whether a custom source is in a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - source: The source.
    ///   - mode: The mode.
    /// - Returns: `true` if it is.
    public static func containsSource(
        _ loop: UVRunLoop,
        _ source: UVRunLoop.Source,
        _ mode: UVRunLoop.Mode
    ) -> Bool {
        loop.contains(source, forMode: mode)
    }

    // MARK: Port-based sources

    /// Adds a port-based source to a mode.
    ///
    /// A second add and an invalid source are ignored.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - source: The source.
    ///   - mode: The mode.
    public static func addSource(
        _ loop: UVRunLoop,
        _ source: any UVRunLoop.PortSource,
        _ mode: UVRunLoop.Mode
    ) {
        loop.add(source, forMode: mode)
    }

    /// Removes a port-based source from a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - source: The source.
    ///   - mode: The mode.
    public static func removeSource(
        _ loop: UVRunLoop,
        _ source: any UVRunLoop.PortSource,
        _ mode: UVRunLoop.Mode
    ) {
        loop.remove(source, forMode: mode)
    }

    /// Whether a port-based source is in a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - source: The source.
    ///   - mode: The mode.
    /// - Returns: `true` if it is.
    public static func containsSource(
        _ loop: UVRunLoop,
        _ source: any UVRunLoop.PortSource,
        _ mode: UVRunLoop.Mode
    ) -> Bool {
        loop.contains(source, forMode: mode)
    }

    // MARK: Observers

    /// Adds an observer to a mode.
    ///
    /// A second add and an invalid observer are ignored.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - observer: The observer.
    ///   - mode: The mode.
    public static func addObserver(
        _ loop: UVRunLoop,
        _ observer: UVRunLoop.Observer,
        _ mode: UVRunLoop.Mode
    ) {
        loop.add(observer, forMode: mode)
    }

    /// Removes an observer from a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - observer: The observer.
    ///   - mode: The mode.
    public static func removeObserver(
        _ loop: UVRunLoop,
        _ observer: UVRunLoop.Observer,
        _ mode: UVRunLoop.Mode
    ) {
        loop.remove(observer, forMode: mode)
    }

    /// Whether an observer is in a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - observer: The observer.
    ///   - mode: The mode.
    /// - Returns: `true` if it is.
    public static func containsObserver(
        _ loop: UVRunLoop,
        _ observer: UVRunLoop.Observer,
        _ mode: UVRunLoop.Mode
    ) -> Bool {
        loop.contains(observer, forMode: mode)
    }

    // MARK: Timers

    /// Adds a timer to a mode.
    ///
    /// A second add and an invalid timer are ignored.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - timer: The timer.
    ///   - mode: The mode.
    public static func addTimer(
        _ loop: UVRunLoop,
        _ timer: UVRunLoop.Timer,
        _ mode: UVRunLoop.Mode
    ) {
        loop.add(timer, forMode: mode)
    }

    /// Removes a timer from a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - timer: The timer.
    ///   - mode: The mode.
    public static func removeTimer(
        _ loop: UVRunLoop,
        _ timer: UVRunLoop.Timer,
        _ mode: UVRunLoop.Mode
    ) {
        loop.remove(timer, forMode: mode)
    }

    /// Whether a timer is in a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - timer: The timer.
    ///   - mode: The mode.
    /// - Returns: `true` if it is.
    public static func containsTimer(
        _ loop: UVRunLoop,
        _ timer: UVRunLoop.Timer,
        _ mode: UVRunLoop.Mode
    ) -> Bool {
        loop.contains(timer, forMode: mode)
    }
}
