extension UVRunLoop {
    /// An input source that the kernel or a sender signals: Apple's port-based input source.
    ///
    /// For example ``DescriptorSource``, ``Port`` and ``SignalSource``. The protocol is closed:
    /// only this package can create a ``PortLink``.
    ///
    /// > Threading: Any thread.
    public protocol PortSource:
        AnyObject, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
        CustomReflectable
    {
        /// The link through which a loop serves the port.
        var link: PortLink { get }
    }
}
