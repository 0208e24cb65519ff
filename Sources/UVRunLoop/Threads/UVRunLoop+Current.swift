extension UVRunLoop {
    /// The calling thread's loop, created on first use.
    ///
    /// A loop takes four file descriptors or more, see <doc:Threads>. Traps when none are left;
    /// ``prepareCurrent()`` throws instead.
    ///
    /// > Threading: Any thread; each has its own loop.
    @available(*, noasync, message: "A task may change threads. Keep the loop, or pass it on.")
    public static var current: UVRunLoop {
        do {
            return try prepareCurrent()
        } catch {
            fail(
                """
                No run loop could be created for this thread: \(error). Raise the limit on open \
                files (ulimit -n, RLIMIT_NOFILE), or call UVRunLoop.prepareCurrent() first, which \
                throws.
                """
            )
        }
    }

    /// Creates the calling thread's loop, if it has none yet.
    ///
    /// > Threading: Any thread; each has its own loop.
    ///
    /// - Returns: The same loop as ``current``.
    /// - Throws: ``RunLoopError`` when the system has no descriptors or no memory left.
    @available(*, noasync, message: "A task may change threads. Keep the loop, or pass it on.")
    @discardableResult
    public static func prepareCurrent() throws(RunLoopError) -> UVRunLoop {
        if let loop = ThreadRecord.withCurrentLoop({ $0 }) { return loop }
        let record = ThreadRecord.current
        guard record.identity == .main else { return try prepareCurrent(on: makeUVDriver) }
        let loop = try prepareMain()
        record.loop = loop
        return loop
    }

    /// Creates the loop of a new thread, on a driver of the caller's choice.
    static func prepareCurrent(on makeDriver: DriverMaker) throws(RunLoopError) -> UVRunLoop {
        ThreadRecord.releaseGone()
        let record = ThreadRecord.current
        let loop = try make(for: record.home, on: makeDriver)
        record.loop = loop
        return loop
    }

    /// The loop of the main thread, whose thread ID equals the process ID.
    ///
    /// Created on first use. Traps when no descriptors are left for it.
    ///
    /// > Threading: Any thread.
    public static var main: UVRunLoop {
        do {
            let loop = try prepareMain()
            ThreadRecord.adopt(loop)
            return loop
        } catch {
            fail(
                """
                No run loop could be created for the main thread: \(error). Raise the limit on \
                open files (ulimit -n, RLIMIT_NOFILE).
                """
            )
        }
    }

    private static func prepareMain() throws(RunLoopError) -> UVRunLoop {
        if let loop = MainLoop.loop { return loop }
        return try makingMain.withLock { _ throws(RunLoopError) in
            if let loop = MainLoop.loop { return loop }
            let made = try make(for: .main, isMain: true)
            MainLoop.set(made)
            awaitMainQueue()
            // The main thread may have found the loop, and sleep in it, before it had to ask whether
            // libdispatch was used.
            if ThreadIdentity.current != .main { made.waker.contentsDidChange() }
            return made
        }
    }

    /// Guards the creation of the main thread's loop, which any thread may request first.
    private static let makingMain = GuardedPerProcess<Void> { () }

    private static func make(
        for home: HomeThread,
        isMain: Bool = false,
        on makeDriver: DriverMaker = makeUVDriver
    ) throws(RunLoopError) -> UVRunLoop {
        let wakeState = WakeState()
        let driver = try RunLoopError.translating(try makeDriver(wakeState))
        return UVRunLoop(home: home, wakeState: wakeState, driver: driver, isMain: isMain)
    }

    /// Creates a driver on libuv, as `current` does.
    @Sendable
    package static func makeUVDriver(_ wakeState: WakeState) throws(UVError) -> any LoopDriver {
        try UVDriver(wakeState: wakeState)
    }
}
