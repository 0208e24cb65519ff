internal import CUVSupport

extension UVRunLoop.DescriptorEvents {
    /// The readiness in a mask of poll(2) or epoll, whose bits are the same; no errors or hang-ups.
    package init(kernelMask mask: CInt) {
        self = []
        if mask & CInt(cuv_poll_in) != 0 { insert(.readable) }
        if mask & CInt(cuv_poll_out) != 0 { insert(.writable) }
    }

    /// The mask of poll(2) or epoll that asks for the readiness.
    package var kernelMask: CInt {
        var mask: CInt = 0
        if contains(.readable) { mask |= CInt(cuv_poll_in) }
        if contains(.writable) { mask |= CInt(cuv_poll_out) }
        return mask
    }
}

/// Whether a descriptor has bytes to be read, and not only their end.
package func hasUnreadBytes(_ descriptor: CInt) -> Bool { cuv_unread_bytes(descriptor) > 0 }
