extension UVRunLoop {
    /// Suspends the calling task until a date of the loop's clock.
    ///
    /// A timer in the common modes ends the sleep, and keeps these modes from being empty
    /// meanwhile. It is never early. A date in the past suspends the task, too, until the loop
    /// next fires timers.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - date: When to wake.
    ///   - tolerance: How late it may be, to save wake-ups.
    ///   - isolation: The caller's actor.
    /// - Throws: `CancellationError` if the task is cancelled before the date;
    ///   ``PerformError/threadEnded`` if the loop's thread ends before the date or has ended.
    public func sleep(
        until date: Instant,
        tolerance: Duration = .zero,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await sleep(until: date.nanoseconds, tolerance, isolation: isolation)
    }

    /// Suspends the calling task for a time of the loop's clock.
    ///
    /// Otherwise the same as ``sleep(until:tolerance:isolation:)``.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - duration: How long to sleep; a negative duration counts as zero.
    ///   - tolerance: How late it may be, to save wake-ups.
    ///   - isolation: The caller's actor.
    /// - Throws: `CancellationError` if the task is cancelled before the end;
    ///   ``PerformError/threadEnded`` if the loop's thread ends before that or has ended.
    public func sleep(
        for duration: Duration,
        tolerance: Duration = .zero,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await sleep(until: time(after: duration), tolerance, isolation: isolation)
    }

    private func sleep(
        until date: Int64,
        _ tolerance: Duration,
        isolation: isolated (any Actor)?
    ) async throws {
        checkProcess()
        try Task.checkCancellation()
        let wait = TaskWait<Void>()
        // Unowned, because the loop itself calls the handler, and keeps the timer.
        let timer = Timer(date: date, nil, tolerance, traits: .isCalledAtLoopEnd) {
            [unowned self] _ in
            wait.settle(hasEnded ? .failure(PerformError.threadEnded) : .success(()))
        }
        if !addUntilEnd(timer) { wait.settle(.failure(PerformError.threadEnded)) }
        try await Self.outcome(of: wait, on: self, isolation: isolation) { timer.invalidate() }
    }
}
