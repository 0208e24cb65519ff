import Synchronization

extension UVRunLoop {
    /// Calls a handler at a date, once or again and again.
    ///
    /// A timer fires in the modes it was added to, never before its date, and only while its loop
    /// runs. A repeating timer's next date is reckoned from its scheduled date, not from when it
    /// really fired: it does not drift. Any number of dates that passed meanwhile are one fire,
    /// and ``missedFires`` tells how many more it stands for.
    ///
    /// A timer belongs to one loop at a time, and to any number of its modes. The loop keeps it
    /// until it is removed or invalid.
    ///
    /// See *Timer Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Timer: Sendable {
        /// The loop the timer is in, its dates while it is in none, and its tolerance in
        /// nanoseconds.
        struct State {
            var loop: UVRunLoop?
            var ticket = Ticket.none
            var series: FireSeries
            var tolerance: Int64
        }

        let handler: Handler<(Timer) -> Void>
        let state: Guarded<State>
        let validity = Atomic<Bool>(true)
        let missed = Atomic<Int>(0)
        /// How many of its calls are on the stack; a timer that is being called is in no queue.
        private let callDepth = Atomic<Int>(0)
        private let clock: any LoopRemote
        /// Nanoseconds; `nil` for a one-shot timer.
        let period: Int64?
        /// What another layer keeps with the timer.
        package let companion: (any AnyObject & Sendable)?

        /// Makes a timer for a date; add it to a loop with
        /// ``UVRunLoop/add(_:forMode:)-(UVRunLoop.Timer,_)``.
        ///
        /// > Threading: The thread whose loop is to serve the timer, because the handler stays on
        /// it.
        ///
        /// - Parameters:
        ///   - date: The first date to fire on. One in the past becomes now.
        ///   - interval: The time between fires; `nil` fires once, and zero or less every 0.1 ms.
        ///   - tolerance: How late a fire may be for the sake of fewer wake-ups; negative ones
        ///     become zero.
        ///   - handler: Called on the loop's thread.
        public convenience init(
            at date: Instant,
            interval: Duration? = nil,
            tolerance: Duration = .zero,
            handler: @escaping (Timer) -> Void
        ) {
            self.init(
                date: date.nanoseconds,
                interval,
                tolerance,
                ThreadBound(handler)
            )
        }

        /// Makes a timer that fires after a while, counted from now by the calling thread's loop.
        ///
        /// > Threading: The thread whose loop is to serve the timer, because the handler stays on
        /// it.
        ///
        /// - Parameters:
        ///   - delay: The time until the first fire.
        ///   - interval: The time between fires; `nil` fires once, and zero or less every 0.1 ms.
        ///   - tolerance: How late a fire may be for the sake of fewer wake-ups; negative ones
        ///     become zero.
        ///   - handler: Called on the loop's thread.
        public convenience init(
            after delay: Duration,
            interval: Duration? = nil,
            tolerance: Duration = .zero,
            handler: @escaping (Timer) -> Void
        ) {
            self.init(
                after: delay,
                interval,
                tolerance,
                ThreadBound(handler)
            )
        }

        /// Makes a timer for a date, whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - date: The first date to fire on. One in the past becomes now.
        ///   - interval: The time between fires; `nil` fires once, and zero or less every 0.1 ms.
        ///   - tolerance: How late a fire may be for the sake of fewer wake-ups; negative ones
        ///     become zero.
        ///   - sendableHandler: Called on the loop's thread.
        @_disfavoredOverload
        public convenience init(
            at date: Instant,
            interval: Duration? = nil,
            tolerance: Duration = .zero,
            sendableHandler: @escaping @Sendable (Timer) -> Void
        ) {
            self.init(
                date: date.nanoseconds,
                interval,
                tolerance,
                ThreadBound(sendable: sendableHandler)
            )
        }

        /// Makes a timer that fires after a while, whose handler may be called on any thread.
        ///
        /// > Threading: Any thread; the time counts by the calling thread's loop.
        ///
        /// - Parameters:
        ///   - delay: The time until the first fire.
        ///   - interval: The time between fires; `nil` fires once, and zero or less every 0.1 ms.
        ///   - tolerance: How late a fire may be for the sake of fewer wake-ups; negative ones
        ///     become zero.
        ///   - sendableHandler: Called on the loop's thread.
        @_disfavoredOverload
        public convenience init(
            after delay: Duration,
            interval: Duration? = nil,
            tolerance: Duration = .zero,
            sendableHandler: @escaping @Sendable (Timer) -> Void
        ) {
            self.init(
                after: delay,
                interval,
                tolerance,
                ThreadBound(sendable: sendableHandler)
            )
        }

        /// Makes a one-shot timer for a date that may be past, and then comes before the dates since.
        convenience init(
            catchingUpFrom date: Int64,
            sendableHandler: @escaping @Sendable (Timer) -> Void
        ) {
            self.init(
                date: date,
                nil,
                .zero,
                ThreadBound(sendable: sendableHandler),
                mayBePast: true
            )
        }

        /// Makes a timer for a date, with something that another layer keeps with it.
        package convenience init(
            at date: Instant,
            interval: Duration?,
            companion: any AnyObject & Sendable,
            _ handler: ThreadBound<(Timer) -> Void>
        ) {
            self.init(date: date.nanoseconds, interval, .zero, handler, companion: companion)
        }

        private convenience init(
            after delay: Duration,
            _ interval: Duration?,
            _ tolerance: Duration,
            _ handler: ThreadBound<(Timer) -> Void>
        ) {
            let clock = UVRunLoop.currentClock
            let date = clock.now.addingSaturating(max(delay.nanosecondsRoundedUp, 0))
            self.init(date: date, interval, tolerance, handler, clock: clock)
        }

        private init(
            date: Int64,
            _ interval: Duration?,
            _ tolerance: Duration,
            _ handler: ThreadBound<(Timer) -> Void>,
            clock: any LoopRemote = UVRunLoop.currentClock,
            mayBePast: Bool = false,
            companion: (any AnyObject & Sendable)? = nil
        ) {
            self.handler = Handler(handler)
            self.companion = companion
            self.clock = clock
            let period = interval.map(Self.period)
            self.period = period
            let first = mayBePast ? date : max(date, clock.now)
            state = Guarded(
                State(
                    series: FireSeries(date: first, interval: period),
                    tolerance: max(tolerance.nanosecondsRoundedUp, 0)
                )
            )
        }

        /// Nanoseconds between fires.
        ///
        /// None at all, or fewer, repeats every 0.1 ms, as NSTimer does.
        private static func period(_ interval: Duration) -> Int64 {
            interval > .zero ? interval.nanosecondsRoundedUp : 100_000
        }

        /// Whether its handler is on the stack.
        var isBeingCalled: Bool { callDepth.load(ordering: .relaxed) > 0 }

        /// Counts a call that is about to begin; answers whether it is the outermost.
        ///
        /// To be called, as ``callDidEnd()``, under the lock of the loop that has the timer, or
        /// the timer's own when none has.
        @discardableResult
        func callWillBegin() -> Bool { callDepth.add(1, ordering: .relaxed).oldValue == 0 }

        func callDidEnd() { callDepth.subtract(1, ordering: .relaxed) }

        // MARK: What it is

        /// The time between fires; `nil` for a timer that fires once.
        public var interval: Duration? { period.map { .nanoseconds($0) } }

        /// Whether the timer may still fire: it was not invalidated, and is not a one-shot that
        /// has fired.
        ///
        /// A one-shot timer is valid while its handler runs.
        public var isValid: Bool { validity.load(ordering: .acquiring) }

        /// How many dates beyond its own the present or latest fire stands for.
        ///
        /// A call by ``fire()`` leaves it as it is. Set before the handler is called: fires and
        /// missed fires together are the dates that have passed.
        public var missedFires: Int { missed.load(ordering: .relaxed) }

        // MARK: Changing it

        /// The date of the next fire, or, while the handler runs, of this one.
        ///
        /// Setting it begins the series of dates anew; a date in the past becomes now. Set in the
        /// timer's own handler it is kept. It cannot bring an invalid timer back.
        ///
        /// > Threading: Any thread.
        public var nextFireDate: Instant {
            get {
                state.withLock { state in
                    let scheduled = state.loop?.withEngine { $0.timers[state.ticket]?.series.date }
                    return Instant(nanoseconds: scheduled ?? state.series.date)
                }
            }
            set { setNextFireDate(newValue) }
        }

        /// Sets the date of the next fire; answers the date that was really set, `nil` if the timer
        /// is invalid.
        @discardableResult
        package func setNextFireDate(_ date: Instant) -> Instant? {
            let (loop, date) = state.withLock { state -> (UVRunLoop?, Int64?) in
                guard validity.load(ordering: .relaxed) else { return (nil, nil) }
                let clock = state.loop?.remote ?? self.clock
                let date = max(date.nanoseconds, clock.now)
                state.series.restart(at: date)
                state.loop?.withEngine { $0.setDate(date, of: state.ticket) }
                return (state.loop, date)
            }
            loop?.contentsDidChange()
            return date.map { Instant(nanoseconds: $0) }
        }

        /// How late a fire may be so that one wake-up can serve several timers.
        ///
        /// Negative ones become zero.
        ///
        /// The loop wakes on its own account neither before the date nor later than the tolerance
        /// after it.
        ///
        /// > Threading: Any thread.
        @_disfavoredOverload
        public var tolerance: Duration {
            get { .nanoseconds(state.withLock(\.tolerance)) }
            set {
                let tolerance = max(newValue.nanosecondsRoundedUp, 0)
                let loop = state.withLock { state -> UVRunLoop? in
                    state.tolerance = tolerance
                    state.loop?.withEngine { $0.setTolerance(tolerance, of: state.ticket) }
                    return state.loop
                }
                loop?.contentsDidChange()
            }
        }

        /// Takes the timer out of its loop for good.
        ///
        /// When this returns on the loop's thread, no call begins any more. From another thread,
        /// one that had begun may still be running.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }

        /// Calls the handler now.
        ///
        /// A repeating timer's dates stay as they are; a one-shot timer is invalid afterwards.
        /// Does nothing when the timer is invalid.
        ///
        /// > Threading: The loop's own thread; traps elsewhere. Any thread for a timer in no loop,
        /// if its handler is
        /// sendable.
        public func fire() {
            UVRunLoop.fire(self)
        }
    }
}
