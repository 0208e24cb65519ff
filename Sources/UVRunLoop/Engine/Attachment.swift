/// The modes that an item is in, and whether it was added to the common modes.
struct Attachment {
    struct Membership {
        var mode: Int
        var place: HeapSlot
    }

    var isCommon = false
    /// Nearly every item is in one mode, which needs no array.
    private var first: Membership?
    private var others: [Membership] = []

    /// Whether the loop must keep the item.
    var holdsItem: Bool { isCommon || first != nil }

    mutating func insert(_ membership: Membership) {
        if first == nil { first = membership } else { others.append(membership) }
    }

    mutating func remove(from mode: Int) -> Membership? {
        if let found = first, found.mode == mode {
            first = others.popLast()
            return found
        }
        guard let index = others.firstIndex(where: { $0.mode == mode }) else { return nil }
        return others.remove(at: index)
    }

    func place(in mode: Int) -> HeapSlot? {
        if let first, first.mode == mode { return first.place }
        return others.first { $0.mode == mode }?.place
    }

    func forEach(_ body: (Membership) -> Void) {
        guard let first else { return }
        body(first)
        for other in others { body(other) }
    }
}
