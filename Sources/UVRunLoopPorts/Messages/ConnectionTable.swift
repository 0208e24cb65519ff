/// The connections of a local port, by tag.
///
/// A tag is a slot index, which makes lookup O(1), and a number that is never reused, so that a
/// stale tag finds nothing.
struct ConnectionTable {
    private struct Slot {
        var tag: UInt64
        var connection: Connection?
    }

    /// Lower tags are not connections.
    static let firstTag: UInt64 = 2
    private static let slotBits: UInt64 = 32

    private var slots: [Slot] = []
    private var vacant: [Int] = []
    private var lastNumber: UInt64 = 0

    var count: Int { slots.count - vacant.count }

    var tags: [UInt64] { slots.lazy.filter { $0.connection != nil }.map(\.tag) }

    subscript(tag: UInt64) -> Connection? { slot(of: tag).flatMap { slots[$0].connection } }

    /// Modifies a connection in place.
    mutating func modify<Result>(
        _ tag: UInt64,
        _ change: (inout Connection) -> Result
    ) -> Result? {
        guard let slot = slot(of: tag), slots[slot].connection != nil else { return nil }
        // The connection exists, and only `!` modifies it without a copy.
        // swift-format-ignore: NeverForceUnwrap
        return change(&slots[slot].connection!)
    }

    /// The tag of the next connection.
    var nextTag: UInt64 {
        let slot = UInt64(vacant.last ?? slots.count) + Self.firstTag
        return (lastNumber + 1) << Self.slotBits | slot
    }

    mutating func insert(_ connection: Connection) {
        let slot = Slot(tag: nextTag, connection: connection)
        lastNumber += 1
        if let index = vacant.popLast() { slots[index] = slot } else { slots.append(slot) }
    }

    mutating func remove(_ tag: UInt64) -> Connection? {
        guard let slot = slot(of: tag), let found = slots[slot].connection.take() else {
            return nil
        }
        vacant.append(slot)
        return found
    }

    private func slot(of tag: UInt64) -> Int? {
        let number = tag & (1 << Self.slotBits - 1)
        guard number >= Self.firstTag, number - Self.firstTag < UInt64(slots.count) else {
            return nil
        }
        let slot = Int(number - Self.firstTag)
        return slots[slot].tag == tag ? slot : nil
    }
}
