internal import CUVSupport

/// Owns one file descriptor and closes it exactly once.
///
/// Loops and epoll sets must stop watching the number first.
package struct Descriptor: ~Copyable, Sendable {
    package let number: CInt

    /// Takes ownership of a descriptor.
    package init(owning number: CInt) { self.number = number }

    /// Takes ownership of a descriptor that was just opened, and that is for the library alone.
    ///
    /// It has no number of a standard descriptor, which other code of the process may read or
    /// write.
    ///
    /// - Parameter status: The descriptor, or the negated error.
    /// - Throws: The error, or that of finding another number.
    package init(opened status: CInt) throws(UVError) {
        self = try StandardDescriptors.avoided(by: Descriptor(owning: accepted(status)))
    }

    deinit { cuv_close(number) }

    /// Closes the descriptor now.
    package consuming func close() {}
}

extension Descriptor {
    /// A new epoll set.
    package static func epollSet() throws(UVError) -> Descriptor {
        try Descriptor(opened: cuv_epoll_create())
    }

    /// A new epoll set for a loop to watch, in non-blocking mode.
    ///
    /// A loop would make a blocking one non-blocking, and, to restore it, compare it with the
    /// non-blocking eventfds, timerfds and epoll sets that are watched.
    package static func watchedEpollSet() throws(UVError) -> Descriptor {
        let epoll = try epollSet()
        try accepted(cuv_set_file_flags(epoll.number, O_NONBLOCK))
        return epoll
    }

    /// A new eventfd, in non-blocking mode.
    package static func event() throws(UVError) -> Descriptor {
        try Descriptor(opened: cuv_event_create())
    }

    /// A new timerfd on the monotonic clock or the calendar's, in non-blocking mode.
    package static func timer(isCalendar: Bool = false) throws(UVError) -> Descriptor {
        try Descriptor(opened: cuv_timer_create(isCalendar ? CLOCK_REALTIME : CLOCK_MONOTONIC))
    }
}
