extension UVRunLoop {
    /// The calling thread's loop, made when it is first asked for.
    ///
    /// A loop takes four file descriptors, and a fifth when it first waits for an exact date. When
    /// none are left the process traps; ``prepareCurrent()`` throws instead.
    ///
    /// > Threading: Any thread; each has its own.
    @available(*, noasync, message: "A task may go on on another thread.")
    public static var current: UVRunLoop {
        do {
            return try prepareCurrent()
        } catch {
            fail(
                """
                No run loop could be made for this thread: \(error). Raise the limit on open files (ulimit -n, \
                RLIMIT_NOFILE), or call UVRunLoop.prepareCurrent() first, which throws.
                """
            )
        }
    }

    /// Makes the calling thread's loop, if it has none yet.
    ///
    /// > Threading: Any thread; each has its own.
    ///
    /// - Returns: The same loop as ``current``.
    /// - Throws: ``RunLoopError`` when the system has no descriptors or no memory left.
    @available(*, noasync, message: "A task may go on on another thread.")
    @discardableResult
    public static func prepareCurrent() throws(RunLoopError) -> UVRunLoop {
        if let loop = ThreadRecord.withCurrentLoop({ $0 }) { return loop }
        let record = ThreadRecord.current
        let loop = record.identity == .main ? try prepareMain() : try make(for: record.home)
        record.loop = loop
        return loop
    }

    /// The main thread's loop: that of the thread whose id is the process's.
    ///
    /// Traps when no descriptors are left to make it with.
    ///
    /// > Threading: Any thread.
    public static var main: UVRunLoop {
        do {
            return try prepareMain()
        } catch {
            fail(
                """
                No run loop could be made for the main thread: \(error). Raise the limit on open files \
                (ulimit -n, RLIMIT_NOFILE).
                """
            )
        }
    }

    private static func prepareMain() throws(RunLoopError) -> UVRunLoop {
        if let loop = MainLoop.loop, loop.generation == ForkCount.current { return loop }
        return try mainThread.current.lock.withLock { _ throws(RunLoopError) in
            if let loop = existingMain { return loop }
            let made = try make(for: .main, isMain: true)
            // A parent's loop is never released: that must not touch what the parent still uses.
            MainLoop.loop = made
            awaitMainQueue()
            return made
        }
    }

    /// The main thread's loop, if somebody has asked for it in this process.
    static var existingMain: UVRunLoop? {
        MainLoop.loop.flatMap { $0.generation == ForkCount.current ? $0 : nil }
    }

    /// Guards the making of the main thread's loop, which whoever asks first makes.
    private final class Making: Sendable {
        let lock = Guarded<Void>(())
    }

    private static let mainThread = PerProcess { Making() }

    private static func make(
        for home: HomeThread,
        isMain: Bool = false
    ) throws(RunLoopError) -> UVRunLoop {
        let word = WakeState()
        do {
            let driver = try UVDriver(word: word)
            return UVRunLoop(home: home, word: word, driver: driver, isMain: isMain)
        } catch {
            throw RunLoopError(error)
        }
    }

    /// The present moment by the calling thread's clock: its loop's, if it has one.
    package static var currentInstant: Instant { Instant(nanoseconds: currentTime) }

    private static var currentTime: Int64 {
        ThreadRecord.withCurrentLoop { $0?.remote.now ?? monotonicNow() }
    }

    /// A date, or the present one when that has passed by the calling thread's clock.
    static func currentTime(notBefore date: Int64) -> Int64 {
        ThreadRecord.withCurrentLoop {
            $0?.remote.time(notBefore: date) ?? monotonicTime(notBefore: date)
        }
    }

    /// The date after a delay by the calling thread's clock; one that is negative is none.
    static func currentTime(after delay: Duration) -> Int64 {
        currentTime.addingSaturating(max(delay.nanosecondsRoundedUp, 0))
    }

    // MARK: Another driver

    /// Gives the calling thread another loop, on another driver, for as long as the body runs.
    ///
    /// The loop is torn down afterwards as at the end of a thread.
    package static func withLoop<Result>(
        on makeDriver: (WakeState) throws -> any LoopDriver,
        _ body: (UVRunLoop) throws -> Result
    ) rethrows -> Result {
        let record = ThreadRecord.current
        let word = WakeState()
        let loop = UVRunLoop(home: record.home, word: word, driver: try makeDriver(word))
        let outer = record.loop
        record.loop = loop
        defer {
            loop.tearDown()
            record.loop = outer
        }
        return try body(loop)
    }

    /// Makes a driver on libuv, as every thread's own loop has.
    package static func makeUVDriver(_ word: WakeState) throws(UVError) -> any LoopDriver {
        try UVDriver(word: word)
    }
}
