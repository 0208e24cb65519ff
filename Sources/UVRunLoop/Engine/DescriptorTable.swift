/// The descriptors that the sources of a loop watch.
struct DescriptorTable {
    /// What a loop keeps about one descriptor, which any number of sources may share.
    struct Group {
        /// Tells this use of the number from an earlier one.
        let registration: UInt64
        var sources: [Ticket] = []
        /// What the kernel reports; `nil` while the descriptor is not in its set.
        var armed: UVRunLoop.DescriptorEvents?
    }

    /// By descriptor, as these are small numbers: this is asked for with every event.
    private var groups: [Group?] = []

    subscript(descriptor: CInt) -> Group? { knows(descriptor) ? groups[Int(descriptor)] : nil }

    private func knows(_ descriptor: CInt) -> Bool { groups.indices.contains(Int(descriptor)) }

    // This and `isArmed` read one field: with a whole group its list of sources would be retained.

    /// Tells the present use of a descriptor from earlier ones; `nil` when there is none.
    func registration(of descriptor: CInt) -> UInt64? {
        knows(descriptor) ? groups[Int(descriptor)]?.registration : nil
    }

    // One by one, because whoever goes through a group's sources changes what is kept beside them.

    func sourceCount(of descriptor: CInt) -> Int { groups[Int(descriptor)]?.sources.count ?? 0 }

    func source(_ index: Int, of descriptor: CInt) -> Ticket {
        groups[Int(descriptor)]?.sources[index] ?? .none
    }

    mutating func insert(_ ticket: Ticket, for descriptor: CInt, serial: UInt64) {
        let index = Int(descriptor)
        while groups.count <= index { groups.append(nil) }
        if groups[index] == nil { groups[index] = Group(registration: serial) }
        groups[index]?.sources.append(ticket)
        // Should the owner have closed the descriptor under another source, and the number be in
        // use again, the kernel has forgotten it: it is asked anew.
        groups[index]?.armed = nil
    }

    /// Takes a source off its descriptor; the last one takes the descriptor with it.
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
