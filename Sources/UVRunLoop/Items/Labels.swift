// Any thread may label an item. The label shows in descriptions, in the messages of traps, in
// reports of hangs and in timelines; it has no effect on the item.

extension UVRunLoop.Timer {
    /// A name for the timer, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { labelSlot.text }
        set { labelSlot.text = newValue }
    }
}

extension UVRunLoop.Source {
    /// A name for the source, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { labelSlot.text }
        set { labelSlot.text = newValue }
    }
}

extension UVRunLoop.Observer {
    /// A name for the observer, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { labelSlot.text }
        set { labelSlot.text = newValue }
    }
}

extension UVRunLoop.PortSource {
    /// A name for the source, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { link.labelSlot.text }
        set { link.labelSlot.text = newValue }
    }
}

extension UVRunLoop.TypedPort {
    /// A name for the port, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { port.label }
        nonmutating set { port.label = newValue }
    }
}
