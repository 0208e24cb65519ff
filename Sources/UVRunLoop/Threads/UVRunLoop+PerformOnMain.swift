extension UVRunLoop {
    /// Asks the main thread's loop to perform a block, as one of its input sources.
    ///
    /// The block belongs to the main actor. Otherwise as
    /// ``requestPerform(inModes:target:key:_:)``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps when there is none.
    ///   - target: The object on whose behalf it is, kept until then.
    ///   - key: Tells apart requests of one target.
    ///   - block: The work.
    /// - Returns: What cancels the request.
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

    /// Has the main thread perform a block, and waits until it has.
    ///
    /// The block belongs to the main actor; on the main thread it runs at once. Otherwise as
    /// ``performAndWait(inModes:target:key:_:)``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps when there is none.
    ///   - target: The object on whose behalf it is, kept until then.
    ///   - key: Tells apart requests of one target.
    ///   - block: The work.
    /// - Returns: What the block returned.
    /// - Throws: What the block threw; ``PerformError`` when the request was cancelled.
    @available(*, noasync, message: "A wait keeps its thread.")
    @discardableResult
    public static func performOnMainAndWait<Value: Sendable>(
        inModes modes: [Mode] = commonModes,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping @MainActor @Sendable () throws -> Value
    ) throws -> Value {
        try main.performAndWait(inModes: modes, target: target, key: key) {
            try MainActor.assumeIsolated(block)
        }
    }
}
