/// The descriptors that the sources of a loop watch.
struct DescriptorTable {
    /// What a loop keeps about one descriptor, which any number of sources may share.
    struct Group {
        /// Tells this use of the number from an earlier one.
        let registration: UInt64
        var sources: [Ticket] = []
        /// What the kernel reports; `nil` while the descriptor is not in its set.
        var armed: UVRunLoop.DescriptorSource.Events?
    }

    private var groups: [CInt: Group] = [:]

    subscript(descriptor: CInt) -> Group? { groups[descriptor] }

    mutating func insert(_ ticket: Ticket, for descriptor: CInt, serial: UInt64) {
        groups[descriptor, default: Group(registration: serial)].sources.append(ticket)
        // Should the owner have closed the descriptor under another source, and the number be in
        // use again, the kernel has forgotten it: it is asked anew.
        groups[descriptor]?.armed = nil
    }

    /// Takes a source off its descriptor; the last one takes the descriptor with it.
    mutating func remove(_ ticket: Ticket, from descriptor: CInt) {
        groups[descriptor]?.sources.removeAll { $0 == ticket }
        if groups[descriptor]?.sources.isEmpty == true { groups[descriptor] = nil }
    }

    mutating func setArmed(_ events: UVRunLoop.DescriptorSource.Events?, for descriptor: CInt) {
        groups[descriptor]?.armed = events
    }
}
