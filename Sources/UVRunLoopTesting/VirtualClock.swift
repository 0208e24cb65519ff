import UVRunLoop

extension UVRunLoop {
    /// A clock for loops under test, which stands still while anything is done, and jumps to the
    /// next date when there is nothing to do.
    ///
    /// Loops are made for it by ``UVRunLoop/withVirtualLoop(clock:_:)``,
    /// ``UVRunLoop/withVirtualThread(name:clock:isolation:_:)`` and
    /// ``UVRunLoop/Thread/init(name:stackSize:clock:setUp:)``. Several loops, each on its thread,
    /// may share one clock.
    ///
    /// The clock jumps while every one of its loops sleeps, and to the soonest date that one of
    /// them sleeps for, or that is planned by ``at(_:_:)`` or ``after(_:_:)``. It does not jump
    ///
    /// - while a handler, a block or a job of one of its loops runs;
    /// - while one of its loops is not running, such as between two runs;
    /// - while a descriptor that one of its loops watches is ready, or a wake-up is on its way;
    /// - while a planned action runs;
    /// - while it is held, see ``hold(fileID:line:)``.
    ///
    /// A loop that has ended counts no more. A descriptor that is not ready does not keep the clock
    /// from jumping, because nobody knows when it will be; hold the clock meanwhile.
    ///
    /// Loops that sleep until the same date take turns, in the order in which they were made: the
    /// next continues when the one before it is asleep again.
    ///
    /// Dates begin at the same instant with every clock. Nothing happens before its date.
    ///
    /// See <doc:Testing>.
    ///
    /// > Threading: Any thread.
    public final class VirtualClock: Sendable {
        let state = Guarded(ClockState())
        let limit: Duration?

        /// Creates a clock, without loops.
        ///
        /// - Parameter limit: How long a loop waits, in real time, while nothing happens to the
        ///   clock or any of its loops. After that a test would hang: the process traps with a
        ///   message that says what each loop waits for. `nil` for no limit.
        public init(limit: Duration? = .seconds(600)) {
            self.limit = limit
        }

        deinit {
            // Their actions are released without the lock.
            let plans = state.withLock { $0.takePlans() }
            withExtendedLifetime(plans) {}
        }

        /// The current time; that of every loop of the clock.
        public var now: Instant { Instant(nanoseconds: state.withLock(\.now)) }

        /// The time since the clock's first instant.
        public var elapsed: Duration { .nanoseconds(state.withLock(\.now) - ClockState.start) }

        /// Lets time pass at once, whatever the loops are doing.
        ///
        /// Called by a handler, this is as if the handler had taken so long: dates are late and are
        /// missed, without a sleep. Nothing is performed before this returns.
        ///
        /// - Parameter duration: The time; traps if it is negative.
        public func advance(by duration: Duration) {
            require(
                duration >= .zero,
                "A clock does not go back. Advance it by a positive duration."
            )
            state.withLock { $0.advance(by: duration.nanosecondsRoundedUp) }
        }

        // MARK: What other threads do

        /// Plans what another thread does at a date.
        ///
        /// At that date the action is called on a thread of its own, while every loop of the clock
        /// sleeps, and before timers of the same date. Loops that it wakes continue when it has
        /// returned, so it must not wait for any. Plans for the same date are carried out in the
        /// order in which they were made, each when all loops sleep again: a loop that the first
        /// one has woken fires its timers of that date before the second. While no loop sleeps,
        /// none is carried out, not even one whose date was passed over by ``advance(by:)``.
        ///
        /// The clock keeps the action until it has carried it out, and a loop keeps its clock: a
        /// plan that is never carried out keeps a loop that it captures, and the clock.
        ///
        /// The thread has no loop. A timer that is made in the action therefore has a date of the
        /// system's clock; use perform requests instead.
        ///
        /// - Parameters:
        ///   - date: The date; one in the past is as good as now.
        ///   - action: The action.
        public func at(_ date: Instant, _ action: @escaping @Sendable () -> Void) {
            state.withLock { $0.plan(at: date.nanoseconds, action) }
        }

        /// Plans what another thread does after a delay, as by ``at(_:_:)``.
        ///
        /// - Parameters:
        ///   - delay: The delay, from the clock's current time.
        ///   - action: The action.
        public func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) {
            let delay = delay.nanosecondsRoundedUp
            state.withLock { $0.plan(at: $0.now.addingSaturating(delay), action) }
        }

        /// Discards the plans that are left.
        package func forgetPlans() {
            let plans = state.withLock { $0.takePlans() }
            withExtendedLifetime(plans) {}
        }
    }
}

extension UVRunLoop.VirtualClock: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
