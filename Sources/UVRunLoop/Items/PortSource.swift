extension UVRunLoop {
    /// An input source that the kernel or a sender signals: Apple's port-based input source.
    ///
    /// For example ``DescriptorSource``, ``Port`` and ``SignalSource``. Other code cannot add
    /// kinds: only this package can create a ``PortLink``.
    ///
    /// > Threading: Any thread.
    public protocol PortSource:
        AnyObject, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
        CustomReflectable
    {
        /// The link through which a loop serves the port.
        var link: PortLink { get }

        /// Whether the port may still be served.
        ///
        /// It may not once it was invalidated, the thread of its loop has ended, or the kernel had
        /// no room to watch it. Each kind of port says what else ends it.
        var isValid: Bool { get }

        /// Removes the port from its loop permanently.
        ///
        /// Called on the loop's thread, no call of the handler begins after this has returned. Each
        /// kind of port says what becomes of its resources.
        func invalidate()
    }
}

extension UVRunLoop.PortSource {
    /// The position among ports that become ready at the same time; lower ones are served first.
    ///
    /// Numbers of more than 32 bits count as the nearest number of 32 bits.
    public var order: Int { link.order }

    package var isValid: Bool { link.isValid }

    package func invalidate() { UVRunLoop.invalidate(self) }
}
