import Synchronization

extension Ticket: AtomicRepresentable {}

/// An item's ticket in the loop that the item is in.
///
/// Guarded by the lock of that loop (see ``ItemOwner``), which the compiler does not know: so it is
/// an atomic, whose accesses cost no more than plain ones.
struct ItemTicket: ~Copyable, Sendable {
    private let ticket = Atomic(Ticket.none)

    var value: Ticket {
        get { ticket.load(ordering: .relaxed) }
        nonmutating set { ticket.store(newValue, ordering: .relaxed) }
    }
}
