extension UVRunLoop {
    /// Requests that the main thread's loop perform a block, as one of its input sources.
    ///
    /// The block belongs to the main actor. Otherwise the same as
    /// ``requestPerform(inModes:target:key:_:)``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps if there is none.
    ///   - target: An object to cancel the request by, retained until then.
    ///   - key: Distinguishes requests of one target.
    ///   - block: The work.
    /// - Returns: The request, which can be cancelled.
    @discardableResult
    public static func requestPerformOnMain(
        inModes modes: [Mode] = commonModes,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping @MainActor @Sendable () -> Void
    ) -> PerformRequest {
        main.requestPerform(inModes: modes, target: target, key: key) {
            MainActor.assumeIsolated(block)
        }
    }

    /// Performs a block on the main thread, and waits until it has returned.
    ///
    /// The block belongs to the main actor; on the main thread it runs at once. Otherwise the same
    /// as ``performAndWait(inModes:target:key:limit:_:)``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps if there is none.
    ///   - target: An object to cancel the request by, retained until then.
    ///   - key: Distinguishes requests of one target.
    ///   - limit: How long to wait, in real time; `nil` to wait forever.
    ///   - block: The work.
    /// - Returns: The block's result.
    /// - Throws: The block's error; ``PerformError`` if the request was cancelled, or the limit has
    ///   passed.
    @available(*, noasync, message: "A wait keeps its thread. Await MainActor.run(_:).")
    @discardableResult
    public static func performOnMainAndWait<Value: Sendable>(
        inModes modes: [Mode] = commonModes,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        limit: Duration? = nil,
        _ block: @escaping @MainActor @Sendable () throws -> Value
    ) throws -> Value {
        try main.performAndWait(inModes: modes, target: target, key: key, limit: limit) {
            try MainActor.assumeIsolated(block)
        }
    }
}
