/// The members of a queue by their slots, one record for each.
///
/// The vacant slots are a list within the records, the slot that was vacated last first. Without
/// members there is no list: slots are given out in ascending order again, and what belongs to
/// members that join one after the other is adjacent.
struct HeapMembers<Owner>: ~Copyable {
    private struct Record {
        /// `nil` while the slot is vacant.
        var owner: Owner?
        /// The owner's serial number; of a vacant slot, the next vacant one plus one, or zero.
        var number: UInt64
    }

    private var records = OwnedArray<Record>()
    /// The first vacant slot plus one; zero if there is none.
    private var firstVacant: UInt64 = 0
    private(set) var count = 0

    /// The slot's owner.
    subscript(slot: HeapSlot) -> Owner? { records[Int(slot)].owner }

    /// Those that have a slot.
    var owners: [Owner] { records.indices.compactMap { records[$0].owner } }

    /// Gives a member a slot.
    @inline(__always)
    mutating func insert(_ owner: consuming Owner, serial: UInt64 = 0) -> HeapSlot {
        count &+= 1
        guard firstVacant == 0 else { return insertIntoVacant(owner, serial) }
        records.append(Record(owner: owner, number: serial))
        return HeapSlot(truncatingIfNeeded: records.count - 1)
    }

    private mutating func insertIntoVacant(_ owner: consuming Owner, _ serial: UInt64) -> HeapSlot {
        let slot = Int(firstVacant - 1)
        firstVacant = records[slot].number
        records[slot] = Record(owner: owner, number: serial)
        return HeapSlot(truncatingIfNeeded: slot)
    }

    /// Vacates a slot.
    ///
    /// - Returns: Its owner, for the caller to release.
    @discardableResult
    @inline(__always)
    mutating func remove(_ slot: HeapSlot) -> Owner? {
        let owner = records[Int(slot)].owner.take()
        records[Int(slot)].number = firstVacant
        firstVacant = UInt64(truncatingIfNeeded: slot) &+ 1
        count &-= 1
        if count == 0 {
            records.forgetAll()
            firstVacant = 0
        }
        return owner
    }

    func serial(of slot: HeapSlot) -> UInt64 { records[Int(slot)].number }

    mutating func setSerial(_ serial: UInt64, of slot: HeapSlot) {
        records[Int(slot)].number = serial
    }
}

/// A number that stands for one member of a queue; small, dense and used again after its member
/// has left.
typealias HeapSlot = Int32

extension HeapMembers where Owner: AnyObject {
    /// Tells the processor that a slot's owner is about to be used.
    @inline(__always)
    func prefetchOwner(of slot: HeapSlot) { prefetch(records[Int(slot)].owner) }
}
