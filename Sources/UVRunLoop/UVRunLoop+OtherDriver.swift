extension UVRunLoop {
    /// Gives the calling thread another loop, on another driver, while the body runs.
    ///
    /// The loop is torn down afterwards as at thread exit.
    package static func withLoop<Result>(
        on makeDriver: (WakeState) throws -> any LoopDriver,
        _ body: (UVRunLoop) throws -> Result
    ) rethrows -> Result {
        let record = ThreadRecord.current
        let wakeState = WakeState()
        let loop = UVRunLoop(
            home: record.home,
            wakeState: wakeState,
            driver: try makeDriver(wakeState)
        )
        let outer = record.loop
        record.loop = loop
        defer {
            loop.tearDown()
            record.loop = outer
            loop.passOnJobs()
        }
        return try body(loop)
    }
}
