extension UVRunLoop.Thread {
    /// A name for the thread and its loop, in descriptions, traps, hang reports and timelines.
    ///
    /// At first ``name``. It does not change the name that debuggers show.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { runLoop.label }
        set { runLoop.label = newValue }
    }
}
