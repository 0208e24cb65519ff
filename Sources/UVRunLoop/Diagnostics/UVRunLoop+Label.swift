extension UVRunLoop {
    /// A name for the loop, in descriptions, traps, hang reports and timelines.
    ///
    /// A loop that was given none has the name of the ``Thread`` that it belongs to, if that was
    /// started with one.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { identity.label.text }
        set { identity.label.text = newValue }
    }

    /// The name of the main loop, or the label.
    var ownName: String? { label ?? (isMain ? "main" : nil) }

    /// The name in timelines, metrics and logs, where every loop has one.
    package var trackName: String { ownName ?? "loop" }
}
