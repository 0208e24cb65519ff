internal import CUVSupport

/// Owns one file descriptor and closes it exactly once.
///
/// Loops and epoll sets must stop watching the number first.
package struct Descriptor: ~Copyable, Sendable {
    package let number: CInt

    /// Takes ownership of a descriptor.
    package init(owning number: CInt) { self.number = number }

    deinit { cuv_close(number) }

    /// Closes the descriptor now.
    package consuming func close() {}
}

extension Descriptor {
    /// A new epoll set.
    package static func epollSet() throws(UVError) -> Descriptor {
        Descriptor(owning: try accepted(cuv_epoll_create()))
    }

    /// A new eventfd, in non-blocking mode.
    package static func event() throws(UVError) -> Descriptor {
        Descriptor(owning: try accepted(cuv_event_create()))
    }

    /// The clock of a timerfd.
    package enum Clock { case monotonic, calendar }

    /// A new timerfd, in non-blocking mode.
    package static func timer(on clock: Clock) throws(UVError) -> Descriptor {
        let number =
            switch clock {
            case .monotonic: CLOCK_MONOTONIC
            case .calendar: CLOCK_REALTIME
            }
        return Descriptor(owning: try accepted(cuv_timer_create(number)))
    }
}
