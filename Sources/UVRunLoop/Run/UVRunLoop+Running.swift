extension UVRunLoop {
    /// Runs in the default mode until the mode is empty or the run is stopped.
    ///
    /// See *Starting the Run Loop* in Apple's guide.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    @available(*, noasync, message: "A run keeps its thread. Await the work, or call withThread.")
    public func run(file: StaticString = #fileID, line: UInt = #line) {
        run(mode: .default, for: nil, file: file, line: line)
    }

    /// Runs in a mode for a limited time.
    ///
    /// Returns at once, without notifying observers, if the mode is empty or ``Mode/common``, which
    /// names several, or if the loop's thread is ending. A limit of zero or less makes exactly one
    /// pass that does not wait. Traps in a callback of libuv.
    ///
    /// See *Starting the Run Loop* and *Exiting the Run Loop* in Apple's guide.
    ///
    /// > Threading: The loop's own thread, also from within a handler; traps elsewhere.
    ///
    /// - Parameters:
    ///   - mode: The mode to serve.
    ///   - limit: How long to run; `nil` for no limit. The limit is tested at the end of a pass,
    ///     and ends a sleep at most 2 ms late.
    ///   - returnAfterSourceHandled: Whether to return after a pass that handled a custom or
    ///     port-based source.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    /// - Returns: Why the run ended.
    @available(*, noasync, message: "A run keeps its thread. Await the work, or call withThread.")
    @discardableResult
    public func run(
        mode: Mode = .default,
        for limit: Duration?,
        returnAfterSourceHandled: Bool = false,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> RunResult {
        let local = localState(file: file, line: line)
        var date: Int64?
        if let limit {
            // Durations are compared by a call into the standard library, numbers in place.
            date =
                limit.attoseconds > 0
                ? time.addingSaturating(limit.nanosecondsRoundedUp) : .min
        }
        let terms = Run.Terms(
            limit: date,
            limitWasPast: date == .min,
            returnsAfterSource: returnAfterSourceHandled
        )
        return run(mode, terms, local)
    }

    /// Runs in a mode until a date of the loop's clock.
    ///
    /// Otherwise the same as ``run(mode:for:returnAfterSourceHandled:file:line:)``.
    ///
    /// > Threading: The loop's own thread, also from within a handler; traps elsewhere.
    ///
    /// - Parameters:
    ///   - mode: The mode to serve.
    ///   - limit: When to end; `nil` for never. A date in the past makes exactly one pass that does
    ///     not wait.
    ///   - returnAfterSourceHandled: Whether to return after a pass that handled a custom or
    ///     port-based source.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    /// - Returns: Why the run ended.
    @available(*, noasync, message: "A run keeps its thread. Await the work, or call withThread.")
    @discardableResult
    public func run(
        mode: Mode = .default,
        until limit: Instant?,
        returnAfterSourceHandled: Bool = false,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> RunResult {
        let local = localState(file: file, line: line)
        let date = limit?.nanoseconds
        let terms = Run.Terms(
            limit: date,
            limitWasPast: date.map { $0 <= time } ?? false,
            returnsAfterSource: returnAfterSourceHandled
        )
        return run(mode, terms, local)
    }

    /// Runs in a mode until a source was handled or a condition is met, even while the mode is
    /// empty.
    ///
    /// - Parameters:
    ///   - mode: The mode to serve.
    ///   - limit: When to end, in nanoseconds of the loop's clock.
    ///   - condition: What ends the run besides; one that is met counts as a handled source.
    /// - Returns: Why the run ended.
    package func runUntilSourceHandled(
        in mode: Mode,
        until limit: Int64,
        or condition: @escaping EndCondition
    ) -> RunResult {
        let local = localState()
        let terms = Run.Terms(
            limit: limit,
            limitWasPast: limit <= time,
            returnsAfterSource: true,
            staysWhenEmpty: true,
            endCondition: condition
        )
        return run(mode, terms, local)
    }

    /// Runs in a mode until the run is stopped, even while the mode is empty.
    package func runUntilStopped(in mode: Mode) -> RunResult {
        run(mode, Run.Terms(staysWhenEmpty: true), localState())
    }

    /// The mode of the innermost run; `nil` if the loop is not running.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    public var currentMode: Mode? {
        mode(ofRunIn: localState())
    }

    func mode(ofRunIn local: LocalState) -> Mode? {
        local.modeIndex.map { index in withEngine { $0.modes[index].mode } }
    }

    /// The number of active runs: 0 if the loop is not running, 1 in an outermost run.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    public var nestingLevel: Int { localState().nestingLevel }

    /// The current time of the loop's clock.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    @_disfavoredOverload
    public var now: Instant {
        checkThread()
        return Instant(nanoseconds: time)
    }

    /// Whether a run in the mode would return at once: there is nothing to run for, or the loop was
    /// ended.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    package func isEmpty(_ mode: Mode) -> Bool {
        let local = localState()
        registerMainQueue()
        return runState.isStoppedForGood
            || !withEngine { mayRun(in: mode, at: $0.modes.index(of: mode), &$0, local) }
    }

    /// Whether the loop's thread was told to stop, by ``Thread/stop(afterQueuedWork:)``.
    ///
    /// Every run then returns ``RunResult/stopped`` at once, and in an empty mode
    /// ``RunResult/finished``. A handler that runs the loop repeatedly to wait for something must
    /// end its wait when this is `true`, or it spins.
    ///
    /// > Threading: Any thread.
    public var isStopping: Bool {
        checkProcess()
        return runState.isStoppedForGood
    }
}
