public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop {
    /// Runs in the default mode until a date; a stop does not end it.
    ///
    /// It repeats runs, each until a source was handled, the run was stopped or the date has come.
    /// It makes at least one, unless the mode is empty. It returns early once the mode is empty,
    /// and at once on a thread other than the loop's.
    ///
    /// > Threading: The loop's own thread; does nothing elsewhere.
    ///
    /// - Parameter limitDate: When to end, converted to the loop's clock once. A past date makes
    ///   one pass that does not wait.
    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    public func run(until limitDate: Date) {
        let limit = ClockReading.now(for: self).instant(of: limitDate)
        while runOnce(.default, until: limit), clock.now < limit {}
    }

    /// Runs in a mode once: until a source was handled, the run was stopped or the date has come.
    ///
    /// Timers, blocks and observers do not end it.
    ///
    /// > Threading: The loop's own thread; does nothing elsewhere.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in.
    ///   - limitDate: When to end, converted to the loop's clock once. A past date makes one pass
    ///     that does not wait.
    /// - Returns: Whether the loop ran: `false` for an empty mode and for `common`, and on a thread
    ///   other than the loop's.
    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    @discardableResult
    public func run(mode: Mode, before limitDate: Date) -> Bool {
        runOnce(mode, until: ClockReading.now(for: self).instant(of: limitDate))
    }

    /// Runs in a mode once, as ``run(mode:before:)`` does, without returning whether it ran.
    ///
    /// > Threading: The loop's own thread; does nothing elsewhere.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in.
    ///   - limitDate: When to end.
    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    public func acceptInput(forMode mode: Mode, before limitDate: Date) {
        run(mode: mode, before: limitDate)
    }

    /// Runs in a mode once, as ``run(mode:before:)`` does.
    ///
    /// Foundation on Linux takes the mode as a string here.
    ///
    /// > Threading: The loop's own thread; does nothing elsewhere.
    ///
    /// - Parameters:
    ///   - mode: The name of the mode to run in.
    ///   - limitDate: When to end.
    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    public func acceptInput(forMode mode: String, before limitDate: Date) {
        run(mode: Mode(mode), before: limitDate)
    }

    /// Makes a pass that does not wait, and returns when the mode's next timer is due.
    ///
    /// The pass fires the timers that are due, and performs blocks and one source.
    ///
    /// > Threading: The loop's own thread; does nothing elsewhere.
    ///
    /// - Parameter mode: The mode.
    /// - Returns: The date of the next timer, within some microseconds of its `fireDate`, because the
    ///   clock is read again; `distantFuture` when the mode has input sources only; `nil` when it is
    ///   empty, and on a thread other than the loop's.
    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    public func limitDate(forMode mode: Mode) -> Date? {
        checkProcess()
        guard isOnOwnThread else { return nil }
        run(mode: mode, for: .zero, returnAfterSourceHandled: true)
        guard !isEmpty(mode) else { return nil }
        guard let next = nextFireDate(forMode: mode) else { return .distantFuture }
        return ClockReading.now(for: self).date(of: next)
    }

    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    private func runOnce(_ mode: Mode, until limit: Instant) -> Bool {
        checkProcess()
        guard isOnOwnThread, !isEmpty(mode) else { return false }
        run(mode: mode, until: limit, returnAfterSourceHandled: true)
        return true
    }
}
