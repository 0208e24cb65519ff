/// The modes that an item is in, and whether it was added to the common modes.
struct Attachment {
    /// When it was added to `.common`, as a number; zero if it was not.
    var commonSince: UInt64 = 0
    var isCommon: Bool { commonSince != 0 }
    /// Nearly every item is in one mode, which needs no array.
    private(set) var first = Membership.none
    private var others: [Membership] = []

    /// Whether the loop must keep the item.
    var holdsItem: Bool { isCommon || first.exists }
    var isInManyModes: Bool { !others.isEmpty }

    mutating func insert(_ membership: Membership) {
        if first.exists { others.append(membership) } else { first = membership }
    }

    /// Removes a mode; returns the item's membership in it, if it was there.
    mutating func remove(from mode: Int) -> Membership? {
        if first.exists, first.mode == mode {
            defer { first = others.popLast() ?? Membership.none }
            return first
        }
        guard let index = others.firstIndex(where: { $0.mode == mode }) else { return nil }
        return others.remove(at: index)
    }

    func heapSlot(in mode: Int) -> HeapSlot? {
        if first.exists, first.mode == mode { return first.heapSlot }
        return others.first { $0.mode == mode }?.heapSlot
    }

    func forEach(_ body: (Membership) -> Void) {
        guard first.exists else { return }
        body(first)
        for other in others { body(other) }
    }
}

/// An item's slot in the queues of one mode.
struct Membership {
    /// The mode's index in its loop; negative for none.
    private let modeIndex: Int32
    let heapSlot: HeapSlot

    static let none = Membership(mode: -1, heapSlot: -1)

    init(mode: Int, heapSlot: HeapSlot) {
        modeIndex = Int32(truncatingIfNeeded: mode)
        self.heapSlot = heapSlot
    }

    var exists: Bool { modeIndex >= 0 }
    /// The mode's index.
    var mode: Int { Int(modeIndex) }
}
