import Synchronization

/// An item's ticket in the loop that the item is in.
///
/// Guarded by the lock of that loop (see ``ItemOwner``), which the compiler does not know: so it is
/// an atomic, whose accesses cost no more than plain ones.
struct ItemTicket: ~Copyable, Sendable {
    private let bits = Atomic<UInt64>(Ticket.none.bits)

    var value: Ticket {
        get { Ticket(bits: bits.load(ordering: .relaxed)) }
        nonmutating set { bits.store(newValue.bits, ordering: .relaxed) }
    }
}

extension Ticket {
    fileprivate var bits: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    fileprivate init(bits: UInt64) {
        self.init(
            slot: UInt32(truncatingIfNeeded: bits),
            generation: UInt32(truncatingIfNeeded: bits >> 32)
        )
    }
}
