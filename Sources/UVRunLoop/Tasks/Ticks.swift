extension UVRunLoop {
    /// The dates of a repeating timer as a sequence; see ``UVRunLoop/ticks(every:tolerance:)``.
    ///
    /// An element is the number of dates that it stands for: 1, or more if dates passed while the
    /// consumer was busy or the loop was late. The dates of a series do not drift.
    ///
    /// The sequence has one consumer. It ends when it is invalidated or released, and when the
    /// loop's thread ends; a task that is cancelled gets `nil`, too.
    ///
    /// > Threading: Any thread.
    public final class Ticks: AsyncSequence, Sendable {
        /// The number of dates that passed.
        public typealias Element = Int
        /// A sequence never fails.
        public typealias Failure = Never

        private let loop: UVRunLoop
        private let timer: Timer
        private let slot: EventSlot<Int>

        fileprivate init(of loop: UVRunLoop, every interval: Duration, tolerance: Duration) {
            let slot = EventSlot<Int>(merging: +)
            self.loop = loop
            self.slot = slot
            // Unowned, because the loop itself calls the handler, and keeps the timer.
            let date = loop.time(after: interval)
            timer = Timer(date: date, interval, tolerance, traits: .isCalledAtLoopEnd) {
                [unowned loop] timer in
                if loop.hasEnded { return slot.finish() }
                slot.deliver(timer.missedFires + 1) {
                    loop.remove(timer, forMode: .common)
                } rejoin: {
                    loop.add(timer, ofTicks: slot)
                }
            }
            loop.add(timer, ofTicks: slot)
        }

        /// Ends the sequence, and removes its timer from the loop; a task that waits gets `nil`.
        ///
        /// If no task waits, the dates that have passed are a last element, but for those that the
        /// loop has not noticed because it is late.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            // The timer may be in no loop, and then nothing else checks it.
            loop.checkProcess()
            // The timer does not see those that have passed since it left its modes.
            let missed = timer.skipPassedDates(of: loop)
            if missed > 0 { slot.deliver(missed) }
            timer.invalidate()
            slot.finish()
        }

        deinit {
            // A forked child leaves its parent's items alone.
            if loop.identity.isThisProcess { invalidate() }
        }

        /// Returns an iterator; only one task at a time may wait for an element.
        public func makeAsyncIterator() -> Iterator { Iterator(ticks: self) }

        /// Waits for the dates in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let ticks: Ticks

            /// Waits until at least one date has passed since the latest element.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: How many dates have passed; `nil` at the end of the sequence.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async -> Int? {
                await ticks.next(isolation: isolation)
            }
        }

        private func next(isolation: isolated (any Actor)?) async -> Int? {
            if let outcome = slot.take() {
                // The timer has left its modes at the first of these dates.
                return outcome.get().map { $0 + timer.skipPassedDates(of: loop) }
            }
            return await slot.wait(on: loop, isolation: isolation) {
                loop.add(timer, ofTicks: slot)
            }
        }
    }

    /// Adds the timer of a sequence, at first or again; if the loop has ended, so does the
    /// sequence.
    private func add(_ timer: Timer, ofTicks slot: EventSlot<Int>) {
        if !addUntilEnd(timer) { slot.finish() }
    }

    /// Returns a sequence of dates, the first after one interval from now.
    ///
    /// Its timer is in the common modes. When a date passes that no task waits for, the timer
    /// leaves them until one does: an unattended sequence wakes the loop once.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - interval: The time between dates; zero or less becomes 0.1 ms.
    ///   - tolerance: How late an element may be, to save wake-ups.
    /// - Returns: The sequence, which ends at once if the loop has ended.
    public func ticks(every interval: Duration, tolerance: Duration = .zero) -> Ticks {
        checkProcess()
        return Ticks(of: self, every: interval, tolerance: tolerance)
    }
}

extension UVRunLoop.Timer {
    /// Accounts for the dates that have passed since the timer fired for an element that was kept.
    ///
    /// Until a task waits again, the timer is in no mode, or that fire is about to end: it is not
    /// queued, so its date may change. If another task has had it queued again, the dates are left
    /// to its next fire.
    ///
    /// - Parameter loop: The loop that the timer returns to.
    /// - Returns: The number of dates; zero if the sequence or the loop has ended.
    fileprivate func skipPassedDates(of loop: UVRunLoop) -> Int {
        guard !loop.hasEnded else { return 0 }
        return owner.withLock { _, _ in
            isValid && core.isBeingCalled ? skipDates(upTo: loop.time) : 0
        } nowhere: {
            isValid ? skipDates(upTo: loop.time) : 0
        }
    }
}
