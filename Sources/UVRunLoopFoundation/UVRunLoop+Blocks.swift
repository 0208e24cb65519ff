public import UVRunLoop

extension UVRunLoop {
    /// Hands a block to the loop, to run once, in whichever of some modes runs first.
    ///
    /// As `perform(inModes:_:)`, which a trailing closure means, but for no mode at all the block
    /// is dropped.
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
