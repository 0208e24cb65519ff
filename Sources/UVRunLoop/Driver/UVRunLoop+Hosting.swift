extension UVRunLoop {
    /// The host for libuv handles of further products.
    ///
    /// > Threading: The loop's own thread; traps elsewhere, and for a loop in virtual time.
    ///
    /// - Returns: The host; `nil` if the loop has ended.
    package func handleHost() -> HandleHost? {
        withDriver { driver in
            guard let host = driver.host() else {
                fail("There is no libuv loop: this run loop runs in virtual time.")
            }
            return host
        }
    }

    /// Whether the loop belongs to this process, and not to one that forked it.
    package var isOfThisProcess: Bool { identity.isThisProcess }

    /// Has the loop's thread do something that needs no mode.
    ///
    /// It does so in a pass or during a sleep, or when it ends.
    ///
    /// > Threading: Any thread; no lock may be held.
    ///
    /// - Returns: `false` if the thread has ended.
    @discardableResult
    package func onThread(_ action: @escaping @Sendable () -> Void) -> Bool { home.post(action) }
}
