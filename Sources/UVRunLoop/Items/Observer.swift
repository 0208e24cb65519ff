import Synchronization

extension UVRunLoop {
    /// Calls a handler at certain points of a run.
    ///
    /// Observers of one mode are called by ``order``, those of equal order as they were added. An
    /// observer does not keep its mode from being empty. It is never called again from within its
    /// own handler, nested runs included.
    ///
    /// An observer belongs to one loop at a time, and to any number of its modes.
    ///
    /// See *Run Loop Observers* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Observer: Sendable {
        struct State {
            var loop: UVRunLoop?
            var ticket = Ticket.none
        }

        let state = Guarded(State())
        let handler: HomeBound<ObserverCall>
        let validity = Atomic<Bool>(true)
        /// Whether the handler is on the stack.
        ///
        /// Only the loop's thread looks.
        private let isCalled = Atomic<Bool>(false)
        /// The points at which it is called.
        public let activities: Activities
        /// Whether it stays after its first call.
        public let repeats: Bool
        /// Its turn among the observers of a mode; lower ones are called first.
        public let order: Int

        /// Makes an observer; add it to a loop with
        /// ``UVRunLoop/add(_:forMode:)-(UVRunLoop.Observer,_)``.
        ///
        /// > Threading: The thread whose loop is to be observed, because the handler stays on it.
        ///
        /// - Parameters:
        ///   - activities: The points at which to call.
        ///   - repeats: Whether to stay after the first call.
        ///   - order: The turn among the observers of a mode; lower ones are called first.
        ///   - handler: Called on the loop's thread with the point that the run has come to.
        public convenience init(
            activities: Activities,
            repeats: Bool = true,
            order: Int = 0,
            handler: @escaping (Observer, Activities) -> Void
        ) {
            self.init(activities, repeats, order, home: .current, handler)
        }

        /// Makes an observer whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - activities: The points at which to call.
        ///   - repeats: Whether to stay after the first call.
        ///   - order: The turn among the observers of a mode; lower ones are called first.
        ///   - sendableHandler: Called on the loop's thread with the point that the run has come
        ///     to.
        @_disfavoredOverload
        public convenience init(
            activities: Activities,
            repeats: Bool = true,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (Observer, Activities) -> Void
        ) {
            self.init(activities, repeats, order, home: nil, sendableHandler)
        }

        private init(
            _ activities: Activities,
            _ repeats: Bool,
            _ order: Int,
            home: HomeThread?,
            _ handler: @escaping (Observer, Activities) -> Void
        ) {
            self.activities = activities
            self.repeats = repeats
            self.order = order
            self.handler = HomeBound(ObserverCall(body: handler), home: home)
        }

        /// Whether the observer may still be called: not invalidated, and not a one-shot that was
        /// called.
        ///
        /// A one-shot observer is valid during its call.
        public var isValid: Bool { validity.load(ordering: .acquiring) }

        /// Takes the observer out of its loop for good; no call begins afterwards.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }

        /// Calls the handler, unless the observer is invalid or being called.
        @inline(__always)
        func callOut(_ activity: Activities) {
            guard isValid, !isCalled.load(ordering: .relaxed) else { return }
            isCalled.store(true, ordering: .relaxed)
            handler.lend { callOutToObserver(self, activity, $0) }
            isCalled.store(false, ordering: .relaxed)
            if !repeats { invalidate() }
        }
    }
}

/// Tells an observer.
///
/// Stays out of line so that backtraces and profiles show whose turn it was.
@inline(never)
private func callOutToObserver(
    _ observer: UVRunLoop.Observer,
    _ activity: UVRunLoop.Activities,
    _ call: ObserverCall
) {
    call.body(observer, activity)
}
