import Synchronization

extension UVRunLoop {
    /// An input source that the program signals: Apple's custom input source.
    ///
    /// ``signal()`` marks it, from any thread, and the next pass of a run in one of its modes
    /// performs it. Several signals before that count as one. Signalling does not wake a sleeping
    /// loop; ``UVRunLoop/wakeUp()`` does.
    ///
    /// A source may be in any number of modes and loops; the loop that performs it first takes the
    /// signal.
    ///
    /// See *Custom Input Sources* and *Defining a Custom Input Source* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Source: Sendable {
        /// A handler that is called with the loop and the mode that a source joins or leaves.
        public typealias ModeHandler = @Sendable (UVRunLoop, Mode) -> Void

        struct Link {
            let loop: UVRunLoop
            let ticket: Ticket
        }

        /// Behind a lock of the source's own, because the source may be in several loops.
        struct State {
            var links: [Link] = []
            var modeCalls: ModeCalls
        }

        let handler: HomeBound<(Source) -> Void>
        let state: Guarded<State>
        /// Whether it has a handler for joining or leaving modes.
        let hasModeHandlers: Bool
        let labelBox = LabelBox()
        let useMark = UseMark("a source")
        /// The number of the first signal since the source was last performed; zero if there is
        /// none, ``invalid`` for good once the source was invalidated.
        ///
        /// Stored once the loops know of the signal, and cleared before `perform` is called; both
        /// under the state's lock.
        private let pendingSignal = Atomic<UInt64>(0)
        private static let invalid = UInt64.max
        /// Numbers the signals of all sources in the order of time.
        private static let signalCount = Atomic<UInt64>(0)
        /// The position among sources that are signalled at the same time; lower ones are performed
        /// first.
        public let order: Int

        /// Creates a source.
        ///
        /// Add it to a loop with ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.Source,_,_,_)``.
        ///
        /// > Threading: The thread whose loop performs the source, because `perform` is bound to
        /// > it.
        ///
        /// - Parameters:
        ///   - order: The position among sources signalled at the same time; lower ones are
        ///     performed first.
        ///   - schedule: Called once for each mode the source joins, on the thread that adds it,
        ///     before `add` returns.
        ///   - cancel: Called once for each mode the source leaves, on the thread that removes or
        ///     invalidates it, or on the loop's thread when that ends. While one of the two is being
        ///     called for a mode, by another thread or by this one, the next call for the mode
        ///     follows on that thread when it has returned: `add` or `remove` does not wait for it.
        ///   - perform: Called on the loop's thread after a signal.
        public convenience init(
            order: Int = 0,
            schedule: ModeHandler? = nil,
            cancel: ModeHandler? = nil,
            perform: @escaping (Source) -> Void
        ) {
            self.init(order, schedule, cancel, HomeBound(perform))
        }

        /// Creates a source whose perform handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - order: The position among sources signalled at the same time; lower ones are
        ///     performed first.
        ///   - schedule: Called once for each mode the source joins, on the thread that adds it,
        ///     before `add` returns.
        ///   - cancel: Called once for each mode the source leaves, on the thread that removes or
        ///     invalidates it, or on the loop's thread when that ends. While one of the two is being
        ///     called for a mode, by another thread or by this one, the next call for the mode
        ///     follows on that thread when it has returned: `add` or `remove` does not wait for it.
        ///   - sendablePerform: Called on the loop's thread after a signal.
        @_disfavoredOverload
        public convenience init(
            order: Int = 0,
            schedule: ModeHandler? = nil,
            cancel: ModeHandler? = nil,
            sendablePerform: @escaping @Sendable (Source) -> Void
        ) {
            self.init(order, schedule, cancel, HomeBound(sendable: sendablePerform))
        }

        private init(
            _ order: Int,
            _ schedule: ModeHandler?,
            _ cancel: ModeHandler?,
            _ handler: HomeBound<(Source) -> Void>
        ) {
            self.order = order
            hasModeHandlers = schedule != nil || cancel != nil
            let handlers = ModeCalls.Handlers(schedule: schedule, cancel: cancel)
            state = Guarded(State(modeCalls: ModeCalls(handlers)))
            self.handler = handler
        }

        /// Marks the source, to be performed by the next pass of a run in one of its modes.
        ///
        /// Does not wake a loop: ``signal(waking:)`` does. A signal given while
        /// `perform` runs is kept for the next pass, and one given before the source is added to a
        /// loop is kept until then.
        ///
        /// Not async-signal-safe: a signal handler may interrupt a thread that holds the locks this
        /// needs.
        ///
        /// > Threading: Any thread.
        public func signal() {
            state.withLock { state in
                guard isValid, !isSignalled else { return }
                let serial = Self.signalCount.add(1, ordering: .relaxed).newValue
                state.links.forEachUnretained({ $0.loop }, with: { $0.ticket }) { loop, ticket in
                    loop.withEngine { $0.markSignalled(ticket, serial) }
                }
                pendingSignal.store(serial, ordering: .releasing)
            }
        }

        /// Marks the source, and wakes a loop that it is in.
        ///
        /// The same as ``signal()`` and ``UVRunLoop/wakeUp()``: the loop's sleep ends, even in a
        /// mode without the source.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter loop: The loop.
        public func signal(waking loop: UVRunLoop) {
            signal()
            loop.wakeUp()
        }

        /// Whether the source is valid, was signalled, and not performed since.
        public var isSignalled: Bool { signalNumber != nil }

        /// The number of the signal, for a loop that the source joins; `nil` if there is none.
        var signalNumber: UInt64? {
            let number = pendingSignal.load(ordering: .acquiring)
            return number == 0 || number == Self.invalid ? nil : number
        }

        /// Whether the source may still be performed: it was not invalidated.
        public var isValid: Bool { pendingSignal.load(ordering: .acquiring) != Self.invalid }

        /// Removes the source from all its loops permanently, and calls `cancel` for each mode it
        /// was in.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            useMark.dismiss()
            let (links, released) = state.withLock { state -> ([Link], ModeCalls.Handlers?) in
                guard isValid else { return ([], nil) }
                let links = exchange(&state.links, with: [])
                for link in links {
                    let left = link.loop.withEngine { $0.removeSource(link.ticket) }
                    makeDue(.cancel, left, of: link.loop, &state)
                }
                // Last, because it is read without the lock: an invalid source is in no mode.
                pendingSignal.store(Self.invalid, ordering: .releasing)
                return (links, state.modeCalls.end())
            }
            withExtendedLifetime(released) {}
            makeModeCalls()
            for link in links { link.loop.contentsDidChange() }
            handler.release()
        }

        /// Takes the signal, right before the source is performed.
        ///
        /// - Parameters:
        ///   - loop: A loop that has already removed the source from its queues. If it is signalled
        ///     again meanwhile, that loop finds nothing to do.
        ///   - cleared: The source's ticket in that loop then; it may have been added anew.
        /// - Returns: Whether the source was signalled; an invalid one is not.
        func takeSignal(clearedIn loop: UVRunLoop? = nil, _ cleared: Ticket = .none) -> Bool {
            state.withLock { state in
                let wasSignalled = forgetSignal()
                state.links.forEachUnretained({ $0.loop }, with: { $0.ticket }) { other, ticket in
                    if other === loop, ticket == cleared { return }
                    other.withEngine { $0.clearSignal(ticket) }
                }
                return wasSignalled
            }
        }

        /// Clears the signal; returns whether the source was signalled.
        ///
        /// > Threading: The state's lock is held.
        private func forgetSignal() -> Bool {
            guard isSignalled else { return false }
            pendingSignal.store(0, ordering: .releasing)
            return true
        }

        /// Calls `perform`; returns `false` if the source has become invalid.
        ///
        /// Never inlined, so that backtraces and profiles show the callout.
        @inline(never)
        func callOut() -> Bool {
            guard let perform = handler.current else { return false }
            perform(self)
            return true
        }
    }
}
