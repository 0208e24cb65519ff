extension UVDriver {
    /// The progress of a call of `uv_run`.
    enum Stage {
        case outside
        /// Entered, before the prepare callbacks.
        case entered
        case prepared

        /// Traps if a callback has called `uv_run`.
        func check(is expected: Stage) {
            require(
                self == expected,
                """
                Only the run loop may call uv_run on its libuv loop. Call run() outside of callbacks.
                """
            )
        }
    }
}
