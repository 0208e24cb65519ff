extension UVRunLoop {
    /// The loop's clock, for code that is generic over clocks.
    ///
    /// Its instants are those of the loop, which are those of `SuspendingClock`. Sleeping on it is
    /// ``UVRunLoop/sleep(until:tolerance:isolation:)``.
    ///
    /// > Threading: Any thread.
    public struct Clock: _Concurrency.Clock {
        fileprivate let loop: UVRunLoop

        /// The current time of the loop's clock.
        public var now: UVRunLoop.Instant { Instant(nanoseconds: loop.time) }

        /// One nanosecond.
        public var minimumResolution: Duration { .nanoseconds(1) }

        /// Suspends the calling task until a date of the loop's clock.
        ///
        /// > Threading: Any task.
        ///
        /// - Parameters:
        ///   - deadline: When to wake.
        ///   - tolerance: How late it may be; `nil` for no tolerance.
        /// - Throws: `CancellationError` if the task is cancelled before the date;
        ///   ``UVRunLoop/PerformError/threadEnded`` if the loop's thread ends before it or has
        ///   ended.
        public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            try await loop.sleep(until: deadline, tolerance: tolerance ?? .zero)
        }
    }

    /// The loop's clock.
    ///
    /// > Threading: Any thread.
    public var clock: Clock { Clock(loop: self) }
}
