extension UVRunLoop {
    /// Calls a handler at a date, once or repeatedly.
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
        /// The changing state, guarded by the lock of the loop that ``owner`` names.
        ///
        /// Unchecked, because no static rule knows which lock that is, and because this is reached
        /// in every step of a heap. ``ItemOwner/withLock(_:nowhere:afterwards:)`` is the way to it.
        @exclusivity(unchecked)
        @safe nonisolated(unsafe) private var state: State
        private let sharedDate: SharedNumber
        let owner = ItemOwner()
        // Unchecked, because only some of what the extras hold is guarded by that lock.
        @safe nonisolated(unsafe) private let extras = OnceReference<TimerExtras>()
        let useMark = UseMark("a timer")

        /// Creates a timer for a date; add it to a loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.Timer,_,_,_)``.
        ///
        /// > Threading: The thread whose loop is to serve the timer, because the handler stays on
        /// > it.
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
            self.init(currentTime(notBefore: date), interval, tolerance, .current, handler)
        }

        /// Creates a timer that fires after a while, counted from now by the calling thread's loop.
        ///
        /// > Threading: The thread whose loop is to serve the timer, because the handler stays on
        /// > it.
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
            self.init(currentTime(after: delay), interval, tolerance, .current, handler)
        }

        /// Creates a timer for a date, whose handler may be called on any thread.
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
            self.init(currentTime(notBefore: date), interval, tolerance, .anywhere, sendableHandler)
        }

        /// Creates a timer that fires after a while, whose handler may be called on any thread.
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
            self.init(currentTime(after: delay), interval, tolerance, .anywhere, sendableHandler)
        }

        /// Creates a timer of the library's own.
        ///
        /// - Parameters:
        ///   - date: The first date, in nanoseconds of the loop's clock; it may be past, and then
        ///     comes before the dates since.
        ///   - interval: The time between fires, as of the public initialisers.
        ///   - tolerance: How late a fire may be.
        ///   - traits: What else it is, apart from whether it repeats.
        ///   - handler: Called on the loop's thread.
        convenience init(
            date: Int64,
            _ interval: Duration? = nil,
            _ tolerance: Duration = .zero,
            traits: TimerTraits = [],
            sendableHandler handler: @escaping @Sendable (Timer) -> Void
        ) {
            self.init(date, interval, tolerance, .anywhere, traits: traits, handler)
        }

        /// Creates a timer for a date, with something that another layer keeps with it.
        ///
        /// A past date becomes now, by the clock of the loop that the timer is for, or else of the
        /// calling thread's.
        package convenience init(
            at date: Instant,
            for loop: UVRunLoop?,
            interval: Duration?,
            companion: any AnyObject & Sendable,
            home: Home,
            _ handler: @escaping (Timer) -> Void
        ) {
            let date = loop?.time(notBefore: date) ?? UVRunLoop.currentTime(notBefore: date)
            self.init(date, interval, .zero, home, handler, companion: companion)
        }

        init(
            _ date: Int64,
            _ interval: Duration?,
            _ tolerance: Duration,
            _ home: Home,
            traits: TimerTraits = [],
            _ handler: @escaping (Timer) -> Void,
            companion: (any AnyObject & Sendable)? = nil
        ) {
            sharedDate = SharedNumber(date)
            state = State(
                core: TimerCore(),
                call: TimerCall(body: handler),
                home: home,
                traits: interval == nil ? traits : traits.union(.repeats)
            )
            if interval == nil, tolerance.attoseconds <= 0, companion == nil { return }
            storeExtras(date: date, interval.map(Self.period), tolerance, companion)
        }

        @inline(never)
        private func storeExtras(
            date: Int64,
            _ interval: Int64?,
            _ tolerance: Duration,
            _ companion: (any AnyObject & Sendable)?
        ) {
            let interval = interval ?? .max
            let tolerance = max(tolerance.nanosecondsRoundedUp, 0)
            let made =
                companion.map { CompanionedExtras(date, interval, tolerance, $0) }
                ?? TimerExtras(date, interval, tolerance)
            _ = extras.store(made)
            core.hasTolerance = tolerance > 0
        }

        deinit {
            // A timer that was invalidated has none any more. To compare with `nil` reads the state
            // by a coroutine here, which took 26 instructions.
            switch state.call {
            case .none: break
            case .some: state.home.release(&state.call)
            }
        }

        /// Nanoseconds between fires.
        ///
        /// None at all, or fewer, repeats every 0.1 ms, as NSTimer does.
        private static func period(_ interval: Duration) -> Int64 {
            interval.attoseconds > 0 ? interval.nanosecondsRoundedUp : 100_000
        }

        // MARK: What changes, under the lock

        /// With these 32 bytes a timer takes 72, and 80 of the heap.
        ///
        /// The core comes first: the thread sanitizer takes a change of it for one of what lies at
        /// the beginning, and the handler is called without the lock.
        private struct State: ~Copyable {
            var core: TimerCore
            var call: TimerCall?
            // These never change; they fill the last eight bytes.
            let home: Home
            let traits: TimerTraits
        }

        /// The thread that the handler belongs to, if any.
        var home: Home { state.home }
        var traits: TimerTraits { state.traits }

        var date: Int64 {
            @inline(__always) get { sharedDate.value }
            @inline(__always) set { sharedDate.value = newValue }
        }

        var core: TimerCore {
            @inline(__always) _read { yield state.core }
            @inline(__always) _modify { yield &state.core }
        }

        /// The timer's handler; `nil` once it was released.
        var call: TimerCall? {
            @inline(__always) _read { yield state.call }
            @inline(__always) _modify { yield &state.call }
        }

        // MARK: What a plain one-shot does not have

        @inline(__always)
        func withExtras<Result>(_ body: (TimerExtras) -> Result) -> Result? {
            extras.withObject(body)
        }

        func makeExtras() -> TimerExtras { extras.object ?? extras.store(TimerExtras(0, .max, 0)) }

        /// An object that another layer keeps with the timer.
        package var companion: (any AnyObject & Sendable)? {
            (extras.object as? CompanionedExtras)?.companion
        }

        // MARK: What it is

        /// The loop that the timer is in.
        package var loop: UVRunLoop? { owner.location.loop }

        /// The time between fires; `nil` for a timer that fires once.
        public var interval: Duration? {
            period.map { .nanoseconds($0) }
        }

        /// Whether the timer may still fire: it was not invalidated, and is not a one-shot that
        /// has fired.
        ///
        /// A one-shot timer is valid while its handler runs.
        public var isValid: Bool { owner.isValid }

        /// How many dates beyond its own the present or latest fire stands for.
        ///
        /// A call by ``fire(file:line:)`` leaves it as it is. Set before the handler is called:
        /// fires and missed fires together are the dates that have passed.
        public var missedFires: Int { missed }

        // MARK: Changing it

        /// The date of the next fire, or, while the handler runs, of this one.
        ///
        /// Setting it begins the series of dates anew; a date in the past becomes now. Set in the
        /// timer's own handler it is kept. It cannot bring an invalid timer back, which keeps the
        /// date it had.
        ///
        /// > Threading: Any thread.
        public var nextFireDate: Instant {
            get { Instant(nanoseconds: date) }
            set { setNextFireDate(newValue) }
        }

        /// Sets the date of the next fire; returns the date that was set, `nil` if the timer
        /// is invalid.
        @discardableResult
        package func setNextFireDate(_ date: Instant) -> Instant? {
            // Read before the timer is busy, so that other threads wait for less.
            let dateHere =
                owner.location == .nowhere ? UVRunLoop.currentTime(notBefore: date) : nil
            var soonest = Int64.max
            let set = owner.withLock { loop, engine -> Int64? in
                guard isValid else { return nil }
                let former = self.date
                let date = loop.time(notBefore: date)
                engine.setDate(date, of: self)
                soonest = min(former, date)
                return date
            } nowhere: {
                guard isValid else { return nil }
                let date = dateHere ?? UVRunLoop.currentTime(notBefore: date)
                restart(at: date)
                return date
            } afterwards: { loop in
                loop.timersDidChange(soonest: soonest)
            }
            return set.map { Instant(nanoseconds: $0) }
        }

        /// How late a fire may be so that one wake-up can serve several timers.
        ///
        /// Negative ones become zero.
        ///
        /// The loop wakes on its own account neither before the date nor later than the tolerance
        /// after it. A repeating timer may have a tolerance above its interval: whole dates may
        /// then pass before it fires, which count as ``missedFires``.
        ///
        /// > Threading: Any thread.
        @_disfavoredOverload
        public var tolerance: Duration {
            get { .nanoseconds(slack) }
            set {
                let tolerance = max(newValue.nanosecondsRoundedUp, 0)
                owner.withLock { _, engine in
                    engine.setTolerance(tolerance, of: self)
                } nowhere: {
                    setSlack(tolerance)
                } afterwards: { loop in
                    loop.timersDidChange(soonest: date)
                }
            }
        }

        /// Removes the timer from its loop permanently.
        ///
        /// When this returns on the loop's thread, no call begins any more. From another thread,
        /// one that had begun may still be running.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            useMark.dismiss()
            let isAtHome = home.isHere
            var last: TimerCall?
            owner.withLock { _, engine in
                becomeInvalid(releasing: isAtHome, &last)
                engine.remove(self)
                owner.leave()
            } nowhere: {
                becomeInvalid(releasing: isAtHome, &last)
            } afterwards: { loop in
                loop.timersDidChange(soonest: date)
            }
            withExtendedLifetime(last) {}
            if !isAtHome { releaseCallAtHome() }
        }
    }
}
