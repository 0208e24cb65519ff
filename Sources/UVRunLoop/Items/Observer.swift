extension UVRunLoop {
    /// Calls a handler at certain points of a run.
    ///
    /// Observers of one mode are called by ``order``, observers of equal order as they were added.
    /// An observer does not keep its mode from being empty. It is never called again from within
    /// its own handler, nested runs included.
    ///
    /// An observer belongs to one loop at a time, and to any number of its modes.
    ///
    /// See *Run Loop Observers* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Observer: Sendable {
        let owner = ItemOwner()
        let ticket = ItemTicket()
        let handler: HomeBound<ObserverCall>
        let labelBox = LabelBox()
        let useMark = UseMark("an observer")
        /// The activities at which the observer is called.
        public let activities: Activities
        /// Whether the observer stays valid after its first call.
        public let repeats: Bool
        /// The position among the observers of a mode; lower ones are called first.
        public let order: Int

        /// Creates an observer.
        ///
        /// Add it to a loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.Observer,_,_,_)``.
        ///
        /// > Threading: The thread whose loop is observed, because the handler is bound to it.
        ///
        /// - Parameters:
        ///   - activities: The activities at which to call the handler.
        ///   - repeats: Whether the observer stays valid after its first call.
        ///   - order: The position among the observers of a mode; lower ones are called first.
        ///   - handler: Called on the loop's thread with the current activity.
        public convenience init(
            activities: Activities,
            repeats: Bool = true,
            order: Int = 0,
            handler: @escaping (Observer, Activities) -> Void
        ) {
            self.init(activities, repeats, order, home: .current, handler)
        }

        /// Creates an observer whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - activities: The activities at which to call the handler.
        ///   - repeats: Whether the observer stays valid after its first call.
        ///   - order: The position among the observers of a mode; lower ones are called first.
        ///   - sendableHandler: Called on the loop's thread with the current activity.
        @_disfavoredOverload
        public convenience init(
            activities: Activities,
            repeats: Bool = true,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (Observer, Activities) -> Void
        ) {
            self.init(activities, repeats, order, home: .anywhere, sendableHandler)
        }

        private init(
            _ activities: Activities,
            _ repeats: Bool,
            _ order: Int,
            home: Home,
            _ handler: @escaping (Observer, Activities) -> Void
        ) {
            self.activities = activities
            self.repeats = repeats
            self.order = order
            self.handler = HomeBound(ObserverCall(body: handler), home: home)
        }

        /// Whether the observer may still be called: it was not invalidated, and is not a one-shot
        /// observer whose call has ended.
        ///
        /// A one-shot observer is valid during its call.
        public var isValid: Bool { owner.isValid }

        /// Removes the observer from its loop permanently; no call begins afterwards.
        ///
        /// > Threading: Any thread. On another thread than the loop's, a call may be beginning at
        /// > the same moment.
        public func invalidate() {
            useMark.dismiss()
            let record = owner.withLock { _, engine in
                let record = engine.removeObserver(ticket.value)
                owner.invalidate()
                owner.leave()
                return record
            } nowhere: {
                owner.invalidate()
                return nil
            } afterwards: { loop in
                // A sleeping run's view of its mode retains the observer until the view is refreshed.
                if !loop.isOnOwnThread { loop.contentsDidChange() }
            }
            handler.release()
            withExtendedLifetime(record) {}
        }

        /// Calls the handler, unless the observer is invalid or its handler is running.
        ///
        /// - Returns: Whether it was called.
        @inline(__always)
        @discardableResult
        func callOut(_ activity: Activities) -> Bool {
            guard isValid else { return false }
            guard !handler.home.isAnywhere else { return callOutAnywhere(activity) }
            let wasCalled = handler.lendAtHome { callOutToObserver(self, activity, $0) }
            if wasCalled, !repeats { endAfterItsCall() }
            return wasCalled
        }

        /// The same for a sendable handler, which two loops may call at once: another thread may
        /// move the observer during a notification, or the handler itself.
        @inline(never)
        private func callOutAnywhere(_ activity: Activities) -> Bool {
            handler.lend { call in
                callOutToObserver(self, activity, call)
                // Before the other loop may call it.
                if !repeats { endAfterItsCall() }
            }
        }

        /// Not inlined: most observers repeat, and an invalidation in place would cost each call
        /// the registers that it saves.
        @inline(never)
        private func endAfterItsCall() { invalidate() }
    }
}

/// Calls an observer's handler.
///
/// Never inlined, so that backtraces and profiles show the callout.
@inline(never)
private func callOutToObserver(
    _ observer: UVRunLoop.Observer,
    _ activity: UVRunLoop.Activities,
    _ call: ObserverCall
) {
    call.body(observer, activity)
}
