public import UVRunLoop

extension UVRunLoop {
    /// Queues a block, to run once, in the first of some modes that runs.
    ///
    /// It differs from `perform(inModes:_:)`, which a trailing closure selects, in that a block for
    /// no mode is dropped.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run.
    ///   - block: The work.
    @_disfavoredOverload
    @preconcurrency
    public func perform(inModes modes: [Mode], block: @escaping @Sendable () -> Void) {
        guard !modes.isEmpty else { return }
        perform(inModes: modes, block)
    }

    /// Does nothing, as in Foundation, where it is deprecated.
    ///
    /// > Threading: Any thread.
    @available(*, deprecated, message: "A run loop has always been a server.")
    public func configureAsServer() {}
}
