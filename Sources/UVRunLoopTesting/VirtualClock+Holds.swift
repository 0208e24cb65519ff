import UVRunLoop

extension UVRunLoop.VirtualClock {
    /// Keeps a clock from jumping.
    ///
    /// > Threading: Any thread.
    public final class Hold: Sendable {
        private let clock: UVRunLoop.VirtualClock
        private let number: Int

        fileprivate init(_ clock: UVRunLoop.VirtualClock, _ place: String) {
            self.clock = clock
            number = clock.state.withLock { $0.hold(place) }
        }

        /// Lets the clock jump again, unless it is held otherwise; a second call has no effect.
        ///
        /// Also happens when the object is released.
        public func release() { clock.state.withLock { $0.release(hold: number) } }

        deinit { release() }
    }

    /// Keeps the clock from jumping until the hold is released.
    ///
    /// Hold it while work is under way that the clock's loops do not know of, such as a task on the
    /// concurrency runtime's threads, an exchange with a child process, or the set-up of a test
    /// with several loops. The loops run meanwhile, and what is due now is done. While a clock is
    /// held, only ``advance(by:)`` moves it, as a clock that is moved by hand.
    ///
    /// - Parameters:
    ///   - fileID: The file that the message about a hang names.
    ///   - line: The line that it names.
    /// - Returns: The hold.
    public func hold(fileID: StaticString = #fileID, line: UInt = #line) -> Hold {
        Hold(self, "\(fileID):\(line)")
    }

    /// Keeps the clock from jumping while a function runs.
    ///
    /// - Parameters:
    ///   - fileID: The file that the message about a hang names.
    ///   - line: The line that it names.
    ///   - body: The function.
    /// - Returns: The function's result.
    /// - Throws: The function's error.
    public func withHold<Result, Failure: Error>(
        fileID: StaticString = #fileID,
        line: UInt = #line,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let hold = hold(fileID: fileID, line: line)
        defer { hold.release() }
        return try body()
    }

    /// Keeps the clock from jumping while an asynchronous function runs.
    ///
    /// - Parameters:
    ///   - fileID: The file that the message about a hang names.
    ///   - line: The line that it names.
    ///   - isolation: The caller's actor.
    ///   - body: The function.
    /// - Returns: The function's result.
    /// - Throws: The function's error.
    public func withHold<Result, Failure: Error>(
        fileID: StaticString = #fileID,
        line: UInt = #line,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let hold = hold(fileID: fileID, line: line)
        defer { hold.release() }
        return try await body()
    }
}
