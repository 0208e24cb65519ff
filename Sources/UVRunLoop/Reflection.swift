// The objects of the library consist of values that cannot be copied, which a mirror copies: without
// these, `dump(_:)` and a failed expectation of a test would end the process.

extension UVRunLoop: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.Timer: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.Observer: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.Source: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.PortLink: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.PortSource {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.Thread: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.Ticks: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.Signals: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension UVRunLoop.Readiness: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
