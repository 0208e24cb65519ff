// Any thread may label an item. The label shows in descriptions, in the messages of traps, in
// reports of hangs and in timelines; it has no effect on the item.

extension UVRunLoop {
    /// The label of an item of any kind; `nil` for a block or a job, which is no item.
    static func label(of item: AnyObject?) -> String? {
        switch item {
        case let timer as Timer: timer.label
        case let source as Source: source.label
        case let observer as Observer: observer.label
        case let port as any PortSource: port.label
        default: nil
        }
    }
}

extension UVRunLoop.Timer {
    /// A name for the timer, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { withExtras { $0.labelBox.text } ?? nil }
        set {
            guard newValue != nil || label != nil else { return }
            makeExtras().labelBox.text = newValue
        }
    }
}

extension UVRunLoop.Source {
    /// A name for the source, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { labelBox.text }
        set { labelBox.text = newValue }
    }
}

extension UVRunLoop.Observer {
    /// A name for the observer, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { labelBox.text }
        set { labelBox.text = newValue }
    }
}

extension UVRunLoop.PortSource {
    /// A name for the source, in descriptions, traps, hang reports and timelines.
    ///
    /// > Threading: Any thread.
    public var label: String? {
        get { link.labelBox.text }
        set { link.labelBox.text = newValue }
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
