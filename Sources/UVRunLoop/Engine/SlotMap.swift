/// Items in numbered slots, each reached by its ticket.
///
/// A slot's generation changes when its item is removed, so that an old ticket finds nothing rather
/// than another item.
struct SlotMap<Item>: ~Copyable {
    private struct Slot {
        var generation: UInt32 = 1
        var item: Item?
    }

    private var slots = OwnedArray<Slot>()
    private var vacant = OwnedArray<UInt32>()

    mutating func insert(_ item: Item) -> Ticket {
        if !vacant.isEmpty {
            let slot = vacant.removeLast()
            slots[Int(slot)].item = item
            return Ticket(slot: slot, generation: slots[Int(slot)].generation)
        }
        slots.append(Slot(item: item))
        return Ticket(slot: UInt32(slots.count - 1), generation: 1)
    }

    mutating func remove(_ ticket: Ticket) -> Item? {
        guard holds(ticket) else { return nil }
        slots[Int(ticket.slot)].generation &+= 1
        vacant.append(ticket.slot)
        return slots[Int(ticket.slot)].item.take()
    }

    func holds(_ ticket: Ticket) -> Bool {
        Int(ticket.slot) < slots.count && slots[Int(ticket.slot)].generation == ticket.generation
    }

    /// The item of the ticket; `nil` once it has been removed.
    subscript(ticket: Ticket) -> Item? {
        holds(ticket) ? slots[Int(ticket.slot)].item : nil
    }

    /// Changes the ticket's item in place; does nothing once it has been removed.
    @discardableResult
    mutating func modify<Result: ~Copyable>(
        _ ticket: Ticket,
        _ change: (inout Item) -> Result
    ) -> Result? {
        guard holds(ticket) else { return nil }
        // A slot with the ticket's generation has an item, and only `!` reaches it without a copy.
        // swift-format-ignore: NeverForceUnwrap
        return change(&slots[Int(ticket.slot)].item!)
    }

    var tickets: [Ticket] {
        slots.indices.compactMap { slot in
            guard slots[slot].item != nil else { return nil }
            return Ticket(slot: UInt32(slot), generation: slots[slot].generation)
        }
    }
}

/// Identifies one item of a slot map: a slot, and the slot's generation when the item was inserted.
struct Ticket: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt64
    var slot: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
    var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

    /// A ticket that no item has.
    static let none = Ticket(slot: .max, generation: 0)
}

extension Ticket {
    init(slot: UInt32, generation: UInt32) { rawValue = UInt64(generation) << 32 | UInt64(slot) }
}
