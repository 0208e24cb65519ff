import Synchronization

/// An item's ticket in the loop that the item is in.
///
/// Guarded by the lock of that loop (see ``ItemOwner``), which the compiler does not know: so it is
/// an atomic, whose accesses cost no more than plain ones.
struct ItemTicket: ~Copyable, Sendable {
    private let number = Atomic(Ticket.none.rawValue)

    var value: Ticket {
        get { Ticket(rawValue: number.load(ordering: .relaxed)) }
        nonmutating set { number.store(newValue.rawValue, ordering: .relaxed) }
    }
}
