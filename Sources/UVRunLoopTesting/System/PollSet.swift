internal import UVLibc
import UVRunLoop

/// The descriptors of one poll(2), in order.
struct PollSet: Sendable {
    private var entries: [Entry] = []

    /// One descriptor, what is asked about it, and what the latest poll found.
    private struct Entry: Sendable {
        let descriptor: CInt
        let asked: Int16
        var found: Int16 = 0
    }

    /// The result of a poll for one descriptor.
    struct Condition {
        var events: UVRunLoop.DescriptorEvents = []
        /// Whether there is data to read, besides a hang-up.
        var hasUnread = false
    }

    mutating func add(_ descriptor: CInt, _ events: UVRunLoop.DescriptorEvents) {
        entries.append(Entry(descriptor: descriptor, asked: Int16(events.kernelMask)))
    }

    /// Waits until a descriptor is ready.
    ///
    /// - Parameter milliseconds: How long to wait at most; negative for ever.
    /// - Returns: `false` if nothing was ready in time. An interruption by a signal handler counts
    ///   as ready, without a condition.
    mutating func poll(milliseconds: CInt) -> Bool {
        guard !entries.isEmpty || milliseconds != 0 else { return false }
        var states = entries.map { pollfd(fd: $0.descriptor, events: $0.asked, revents: 0) }
        let count = unsafe UVLibc.poll(&states, nfds_t(states.count), milliseconds)
        for index in entries.indices {
            entries[index].found = count > 0 ? states[index].revents : 0
        }
        return count != 0
    }

    /// The condition of the descriptor that was added at this position.
    func condition(at index: Int) -> Condition {
        let found = CInt(entries[index].found)
        var condition = Condition(events: .init(kernelMask: found))
        if found & (POLLERR | POLLNVAL | POLLHUP) != 0 { condition.events.insert(.hangUp) }
        // With an error, poll(2) also tells of the end as data.
        condition.hasUnread =
            found & POLLIN != 0 && found & POLLNVAL == 0
            && (found & POLLERR == 0 || hasUnreadBytes(entries[index].descriptor))
        return condition
    }
}

/// Whether the number is that of an open descriptor.
func isOpen(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFL) >= 0 }
