import Synchronization

extension UVRunLoop {
    /// An input source that somebody signals by hand: Apple's custom input source.
    ///
    /// ``signal()`` marks it, from any thread, and the next pass of a run in one of its modes
    /// performs it. Several signals before that are one. Signalling does not wake a sleeping loop;
    /// ``UVRunLoop/wakeUp()`` does.
    ///
    /// A source may be in any number of modes and of loops; whichever loop comes first takes the
    /// signal.
    ///
    /// See *Custom Input Sources* and *Defining a Custom Input Source* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Source: Sendable {
        /// Called with the loop and the mode that a source joins or leaves.
        public typealias ModeHandler = @Sendable (UVRunLoop, Mode) -> Void

        struct Link {
            let loop: UVRunLoop
            let ticket: Ticket
        }

        struct State {
            var isValid = true
            /// When it was signalled first since it was performed last.
            var signal: UInt64?
            var links: [Link] = []
        }

        let handler: Handler<(Source) -> Void>
        let schedule: ModeHandler?
        let cancel: ModeHandler?
        let state = Guarded(State())
        /// Set once the loops know of a signal, and cleared before `perform` is called.
        private let signalFlag = Atomic<Bool>(false)
        /// Orders the signals of all sources in time.
        private static let signalCount = Atomic<UInt64>(0)
        /// Its turn among the sources that are signalled at the same time; lower ones are
        /// performed first.
        public let order: Int

        /// Makes a source; add it to a loop with
        /// ``UVRunLoop/add(_:forMode:)-(UVRunLoop.Source,_)``.
        ///
        /// > Threading: The thread whose loop is to perform the source, because `perform` stays on
        /// it.
        ///
        /// - Parameters:
        ///   - order: The turn among sources signalled at the same time; lower ones first.
        ///   - schedule: Called once for each mode the source joins, on the thread that adds it,
        ///     before `add` returns.
        ///   - cancel: Called once for each mode it leaves, on the thread that removes or
        ///     invalidates it, or on the loop's when that ends.
        ///   - perform: Called on the loop's thread after a signal.
        public convenience init(
            order: Int = 0,
            schedule: ModeHandler? = nil,
            cancel: ModeHandler? = nil,
            perform: @escaping (Source) -> Void
        ) {
            self.init(order, schedule, cancel, ThreadBound(perform))
        }

        /// Makes a source whose perform handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - order: The turn among sources signalled at the same time; lower ones first.
        ///   - schedule: Called once for each mode the source joins, on the thread that adds it,
        ///     before `add` returns.
        ///   - cancel: Called once for each mode it leaves, on the thread that removes or
        ///     invalidates it, or on the loop's when that ends.
        ///   - sendablePerform: Called on the loop's thread after a signal.
        @_disfavoredOverload
        public convenience init(
            order: Int = 0,
            schedule: ModeHandler? = nil,
            cancel: ModeHandler? = nil,
            sendablePerform: @escaping @Sendable (Source) -> Void
        ) {
            self.init(order, schedule, cancel, ThreadBound(sendable: sendablePerform))
        }

        private init(
            _ order: Int,
            _ schedule: ModeHandler?,
            _ cancel: ModeHandler?,
            _ handler: ThreadBound<(Source) -> Void>
        ) {
            self.order = order
            self.schedule = schedule
            self.cancel = cancel
            self.handler = Handler(handler)
        }

        /// Marks the source, to be performed by the next pass of a run in one of its modes.
        ///
        /// Does not wake a loop: call ``UVRunLoop/wakeUp()`` after it. A signal given while
        /// `perform` runs is kept for the next pass; one given before the source is added to a
        /// loop is kept too.
        ///
        /// Not for use in a signal handler, which may hold the very locks this needs.
        ///
        /// > Threading: Any thread.
        public func signal() {
            // A source that the loops know to be signalled needs no more. This writes all the
            // same: whoever clears the flag after it sees what came before it.
            guard !isKnownToBeSignalled() else { return }
            state.withLock { state in
                guard state.isValid, !isSignalled else { return }
                let serial = Self.signalCount.add(1, ordering: .relaxed).newValue
                state.signal = serial
                for link in state.links {
                    link.loop.withEngine { $0.markSignalled(link.ticket, serial) }
                }
                signalFlag.store(true, ordering: .releasing)
            }
        }

        private func isKnownToBeSignalled() -> Bool {
            signalFlag.compareExchange(
                expected: true,
                desired: true,
                ordering: .acquiringAndReleasing
            ).exchanged
        }

        /// Whether the source was signalled and not performed since.
        public var isSignalled: Bool { signalFlag.load(ordering: .acquiring) }

        /// Whether the source may still be performed: it was not invalidated.
        public var isValid: Bool { state.withLock(\.isValid) }

        /// Takes the source out of all its loops for good, and calls `cancel` for each mode it was
        /// in.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }

        /// Takes the signal, for whoever performs the source now.
        ///
        /// - Parameter loop: A loop that does not count the source among the signalled ones any
        ///   more. Should it have been signalled anew meanwhile, the loop finds nothing to do.
        /// - Returns: Whether there was one.
        func takeSignal(clearedIn loop: UVRunLoop? = nil) -> Bool {
            state.withLock { state in
                let wasSignalled = forgetSignal(&state)
                for link in state.links where link.loop !== loop {
                    link.loop.withEngine { $0.clearSignal(link.ticket) }
                }
                return state.isValid && wasSignalled
            }
        }

        /// Makes the source one that is not signalled; answers whether it was.
        @discardableResult
        func forgetSignal(_ state: inout State) -> Bool {
            state.signal = nil
            return signalFlag.exchange(false, ordering: .acquiringAndReleasing)
        }

        /// Calls `perform`; answers `false` if the source has become invalid.
        ///
        /// Stays out of line so that backtraces and profiles show whose turn it was.
        @inline(never)
        func callOut() -> Bool {
            guard let perform = handler.current else { return false }
            perform(self)
            return true
        }
    }
}
