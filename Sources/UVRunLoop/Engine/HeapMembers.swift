/// A number that stands for one member of a queue; small, dense and used again after its member
/// has left.
typealias HeapSlot = Int32

/// Knows in which order slots with the same rank have their turns.
protocol SlotOrder: ~Copyable {
    func isBefore(_ one: HeapSlot, _ other: HeapSlot) -> Bool
}

/// The members of a queue by their slots, one record for each.
struct HeapMembers<Owner>: ~Copyable, SlotOrder {
    private struct Record {
        /// `nil` while the slot is vacant.
        var owner: Owner?
        /// Settles the order among equal ranks.
        var serial: UInt64
    }

    private var records = OwnedArray<Record>()
    private var vacant = OwnedArray<HeapSlot>()

    /// The slot's owner.
    subscript(slot: HeapSlot) -> Owner? { records[Int(slot)].owner }

    /// Those that have a slot.
    var owners: [Owner] { records.indices.compactMap { records[$0].owner } }

    /// Gives a member a slot.
    @inline(__always)
    mutating func insert(_ owner: consuming Owner, serial: UInt64 = 0) -> HeapSlot {
        guard vacant.isEmpty else { return insertIntoVacant(owner, serial) }
        records.append(Record(owner: owner, serial: serial))
        return HeapSlot(truncatingIfNeeded: records.count - 1)
    }

    private mutating func insertIntoVacant(_ owner: consuming Owner, _ serial: UInt64) -> HeapSlot {
        let slot = vacant.removeLast()
        records[Int(slot)] = Record(owner: owner, serial: serial)
        return slot
    }

    /// Vacates a slot.
    ///
    /// - Returns: Its owner, for the caller to release.
    @discardableResult
    mutating func remove(_ slot: HeapSlot) -> Owner? {
        vacant.append(slot)
        return records[Int(slot)].owner.take()
    }

    func serial(of slot: HeapSlot) -> UInt64 { records[Int(slot)].serial }

    mutating func setSerial(_ serial: UInt64, of slot: HeapSlot) {
        records[Int(slot)].serial = serial
    }

    func isBefore(_ one: HeapSlot, _ other: HeapSlot) -> Bool {
        serial(of: one) < serial(of: other)
    }
}
