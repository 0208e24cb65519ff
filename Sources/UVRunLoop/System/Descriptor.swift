internal import CUVSupport

/// Owns one file descriptor and closes it exactly once.
///
/// Whatever watches the number has to stop first: a loop, or an epoll set.
package struct Descriptor: ~Copyable, Sendable {
    package let number: CInt

    /// Takes over a descriptor that nobody else closes.
    package init(owning number: CInt) { self.number = number }

    deinit { cuv_close(number) }

    /// Closes it here and now.
    package consuming func close() {}
}

extension Descriptor {
    /// A new epoll set.
    static func epollSet() throws(UVError) -> Descriptor {
        Descriptor(owning: try accepted(cuv_epoll_create()))
    }

    /// A new eventfd, in non-blocking mode.
    static func event() throws(UVError) -> Descriptor {
        Descriptor(owning: try accepted(cuv_event_create()))
    }
}
