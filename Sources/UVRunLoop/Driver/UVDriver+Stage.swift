extension UVDriver {
    /// The progress of a call of `uv_run`.
    enum Stage {
        case outside
        /// Entered, before the prepare callbacks.
        case entered
        case prepared
    }
}
