import UVRunLoop

extension UVRunLoop {
    /// Gives the calling thread another loop, on a virtual clock, while a function runs.
    ///
    /// Meanwhile ``UVRunLoop/current`` is this loop, and dates of timers that are made on the
    /// thread are the clock's. The function adds what is to be tested, and runs the loop; the clock
    /// only jumps in its runs. Afterwards the loop ends, as that of a thread does.
    ///
    /// > Threading: Any thread. The loop is that of the calling thread.
    ///
    /// - Parameters:
    ///   - clock: The clock, which may be shared with other loops, of other threads.
    ///   - body: The function.
    /// - Returns: The function's result.
    /// - Throws: The function's error.
    @available(*, noasync, message: "A run keeps its thread; use withVirtualThread.")
    public static func withVirtualLoop<R>(
        clock: VirtualClock = VirtualClock(),
        _ body: (UVRunLoop) throws -> R
    ) rethrows -> R {
        try withLoop(
            on: { wakeState in
                do {
                    return try VirtualDriver(wakeState: wakeState, clock: clock)
                } catch {
                    fail("No run loop could be created on a virtual clock: \(error).")
                }
            },
            body
        )
    }

    /// Starts a thread with a loop on a virtual clock, runs a function on it as a task, and ends
    /// the thread.
    ///
    /// The function prefers the loop as its executor, and so do its child tasks: the clock stands
    /// while one of them computes, and jumps while all of them wait, for example in
    /// ``UVRunLoop/sleep(for:tolerance:isolation:)``. Code of other actors, and tasks made by
    /// `Task { }`, run elsewhere; hold the clock while they do, or make them with
    /// `Task(executorPreference: loop.taskExecutor)`.
    ///
    /// When the function has returned or thrown, the thread performs what is queued and ends, as
    /// after ``UVRunLoop/Thread/stop(afterQueuedWork:)``.
    ///
    /// > Threading: Any task.
    ///
    /// - Parameters:
    ///   - name: A name for debuggers, and for the message about a hang.
    ///   - clock: The clock, which may be shared with other loops.
    ///   - isolation: The caller's actor.
    ///   - body: The function.
    /// - Returns: The function's result.
    /// - Throws: The function's error; ``RunLoopError`` if no thread could be started.
    public static func withVirtualThread<R: Sendable>(
        name: String? = nil,
        clock: VirtualClock = VirtualClock(),
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable @concurrent (UVRunLoop) async throws -> R
    ) async throws -> R {
        // Before the function and after it, the task is between two threads, and other loops of the
        // clock may sleep.
        let start = clock.hold()
        let thread = try startThread(name, clock)
        let (result, end) = await withTaskExecutorPreference(thread.runLoop.taskExecutor) {
            await outcome(of: body, on: thread, clock, start)
        }
        await thread.end(isolation: isolation)
        end.release()
        return try result.get()
    }

    /// Calls the function on a thread, without the hold, and stops the thread.
    ///
    /// The thread must not wait until the caller gets its turn: by then, the clock might have taken
    /// that for a hang.
    ///
    /// - Returns: The function's result, and another hold.
    @concurrent
    private static func outcome<R: Sendable>(
        of body: @Sendable @concurrent (UVRunLoop) async throws -> R,
        on thread: Thread,
        _ clock: VirtualClock,
        _ start: VirtualClock.Hold
    ) async -> (Result<R, any Error>, VirtualClock.Hold) {
        start.release()
        let result: Result<R, any Error>
        do {
            result = .success(try await body(thread.runLoop))
        } catch {
            result = .failure(error)
        }
        let hold = clock.hold()
        thread.stop()
        return (result, hold)
    }

    private static func startThread(
        _ name: String?,
        _ clock: VirtualClock
    ) throws(RunLoopError) -> Thread {
        try Thread(name: name, clock: clock)
    }
}

extension UVRunLoop.Thread {
    /// Starts a thread with a loop on a virtual clock.
    ///
    /// Otherwise the same as ``UVRunLoop/Thread/init(name:stackSize:setUp:)``. The loop is the
    /// clock's from the start: hold the clock until the thread has its work, if the date of that
    /// matters.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - name: A name for debuggers, and for the message about a hang.
    ///   - stackSize: The size of the stack in bytes; `nil` for the system's default.
    ///   - clock: The clock.
    ///   - setUp: Called on the thread before its loop runs.
    /// - Throws: ``UVRunLoop/RunLoopError`` if no thread could be started.
    @available(*, noasync, message: "Waits for the thread.")
    public convenience init(
        name: String? = nil,
        stackSize: Int? = nil,
        clock: UVRunLoop.VirtualClock,
        setUp: (@Sendable () -> Void)? = nil
    ) throws(RunLoopError) {
        try self.init(name, stackSize, setUp) { wakeState throws(UVError) in
            try VirtualDriver(wakeState: wakeState, clock: clock, name: name)
        }
    }
}
