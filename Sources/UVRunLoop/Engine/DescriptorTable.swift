/// The descriptors that a loop's sources watch.
struct DescriptorTable {
    /// One descriptor and its sources, of which there may be any number.
    struct Group {
        /// Distinguishes this use of the number from earlier ones.
        let registration: UInt64
        var sources: [Ticket] = []
        /// The events that the kernel reports; `nil` if they have to be set anew, because the
        /// descriptor is not in the epoll set, or is there for other events than those wanted now.
        var armed: UVRunLoop.DescriptorEvents?

        /// The change after which the kernel reports these events of the descriptor.
        func change(to events: UVRunLoop.DescriptorEvents?, of descriptor: CInt) -> WatchChange {
            WatchChange(descriptor: descriptor, registration: registration, events: events)
        }
    }

    /// Indexed by descriptor: numbers are small, and every event looks one up.
    private var groups: [Group?] = []

    subscript(descriptor: CInt) -> Group? { knows(descriptor) ? groups[Int(descriptor)] : nil }

    private func knows(_ descriptor: CInt) -> Bool { groups.indices.contains(Int(descriptor)) }

    // These functions and `isArmed` read single fields: reading a whole group would retain its
    // array.

    /// The registration of the descriptor's current use; `nil` if it has no sources.
    func registration(of descriptor: CInt) -> UInt64? {
        knows(descriptor) ? groups[Int(descriptor)]?.registration : nil
    }

    // By index, because callers change the engine between two sources.

    func sourceCount(of descriptor: CInt) -> Int { groups[Int(descriptor)]?.sources.count ?? 0 }

    func source(_ index: Int, of descriptor: CInt) -> Ticket {
        groups[Int(descriptor)]?.sources[index] ?? .none
    }

    mutating func insert(_ ticket: Ticket, for descriptor: CInt, serial: UInt64) {
        let index = Int(descriptor)
        while groups.count <= index { groups.append(nil) }
        if groups[index] == nil { groups[index] = Group(registration: serial) }
        groups[index]?.sources.append(ticket)
        // If the owner closed the descriptor under another source and the number was reused, the
        // kernel no longer watches it.
        groups[index]?.armed = nil
    }

    /// Removes a source from its descriptor, and the descriptor with its last source.
    mutating func remove(_ ticket: Ticket, from descriptor: CInt) {
        guard self[descriptor] != nil else { return }
        let index = Int(descriptor)
        groups[index]?.sources.removeAll { $0 == ticket }
        if groups[index]?.sources.isEmpty == true { groups[index] = nil }
    }

    /// Whether the kernel reports all of some events.
    func isArmed(_ descriptor: CInt, for events: UVRunLoop.DescriptorEvents) -> Bool {
        guard knows(descriptor) else { return false }
        return groups[Int(descriptor)]?.armed?.isSuperset(of: events) ?? false
    }

    mutating func setArmed(_ events: UVRunLoop.DescriptorEvents?, for descriptor: CInt) {
        guard self[descriptor] != nil else { return }
        groups[Int(descriptor)]?.armed = events
    }
}
