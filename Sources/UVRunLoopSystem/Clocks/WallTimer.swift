import UVRunLoop

extension UVRunLoop {
    /// Fires at a date of the calendar's clock.
    ///
    /// A ``Timer`` counts time, and is not concerned when somebody sets the clock or the machine is
    /// suspended. This source is: it fires when the clock shows the date, however it got there, and
    /// never before. A date that is passed by setting the clock, or during a suspension, fires at
    /// once, or after the resumption. A change of the clock is reported, too, so that a program can
    /// compute its next date anew.
    ///
    /// The source fires once for each date. If the handler of ``Event/reached`` does not set
    /// another ``date``, the source becomes invalid after it. So a repeating event is a handler
    /// that computes the next date, by a calendar, and sets it.
    ///
    /// The event is delivered in the modes to which the source was added. The source becomes invalid
    /// when the thread of its loop ends while it is in one of them, and if the kernel has no room
    /// to watch one more descriptor.
    ///
    /// See *Timer Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class WallTimer: PortSource {
        /// Something that has happened to the timer.
        public enum Event: Hashable, Sendable {
            /// The clock shows the date, or a later one.
            case reached
            /// The clock was set, by any amount; the timer waits for its date on the new clock.
            case clockWasSet
        }

        /// The link between the source and its loop.
        public let link: PortLink
        private let alarm: WallAlarm
        private let receiver: EventReceiver<WallTimer, Event>

        /// Creates a timer.
        ///
        /// Add it to a loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``. It takes one file
        /// descriptor.
        ///
        /// > Threading: The thread whose loop serves the source, because the handler is bound to
        /// > it.
        ///
        /// - Parameters:
        ///   - date: When to fire; at once if the date is past.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with each event.
        /// - Throws: ``SystemError`` if no descriptors are left.
        public convenience init(
            at date: WallDate,
            order: Int = 0,
            handler: @escaping (WallTimer, Event) -> Void
        ) throws(SystemError) {
            try self.init(date, order, handler)
        }

        /// Creates a timer whose events are taken by a task; see ``events``.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - date: When to fire; at once if the date is past.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        /// - Throws: ``SystemError`` if no descriptors are left.
        public convenience init(at date: WallDate, order: Int = 0) throws(SystemError) {
            try self.init(date, order, nil)
        }

        init(
            _ date: WallDate,
            _ order: Int,
            _ handler: ((WallTimer, Event) -> Void)?,
            didFail: @escaping @Sendable (SystemError) -> Void = { _ in }
        ) throws(SystemError) {
            let alarm = try WallAlarm(date.nanoseconds)
            let inbox = EventInbox<Event>()
            self.alarm = alarm
            receiver = EventReceiver(
                inbox,
                [],
                handler,
                descriptorIsReady: { _, _ in alarm.take(into: inbox) },
                watchWasRefused: { timer, error in
                    didFail(SystemError(.schedule, error))
                    timer.invalidate()
                },
                didRelease: { alarm.close() },
                isLast: { event in
                    event == .reached && !alarm.isPending && !inbox.isTakenByTask
                }
            )
            link = receiver.makeLink(
                watching: alarm.descriptor,
                order: order,
                warnsAs: "a wall timer"
            )
        }

        /// When the source fires, or has fired.
        ///
        /// Setting it makes the source fire at the new date only, unless the event for the old one
        /// was taken already. On an invalid source it has no effect.
        ///
        /// > Threading: Any thread.
        public var date: WallDate {
            get { WallDate(nanoseconds: alarm.date) }
            set {
                receiver.checkProcess()
                let hasEvent = alarm.setDate(newValue.nanoseconds, receiver.inbox)
                if hasEvent { link.announce() }
            }
        }

        /// The events as a sequence, for a task that takes them instead of a handler.
        ///
        /// The source then stays valid until it is invalidated; set its ``date`` after each
        /// ``Event/reached``.
        ///
        /// > Threading: Any thread.
        public var events: SystemEvents<Event> { SystemEvents(self, receiver) }

        /// Whether there may still be events.
        public var isValid: Bool { link.isValid }

        /// Removes the source from its loop permanently.
        ///
        /// Called on the loop's thread, no call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() { UVRunLoop.invalidate(self) }

        deinit { receiver.releaseHandler() }
    }

    /// Suspends the calling task until a date of the calendar's clock; see ``WallTimer``.
    ///
    /// The source is in the common modes, which it keeps from being empty meanwhile.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - date: When to wake.
    ///   - isolation: The caller's actor.
    /// - Throws: `CancellationError` if the task is cancelled before the date; ``SystemError`` if
    ///   no descriptors are left, or no room to watch one; ``PerformError/threadEnded`` if the
    ///   loop's thread ends first or has ended.
    public func sleep(
        until date: WallDate,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await onlyEvent(isolation: isolation) { (wait: TaskWait<Void>) in
            let end = WaitEnd(wait)
            return try WallTimer(date, 0) { _, event in
                if event == .reached { end.settle(.success(())) }
            } didFail: { error in
                // The source keeps this for longer than its handler, whose release ends the wait.
                wait.settle(.failure(error))
            }
        }
    }
}
