/// The members of a mode by their slots, one record for each.
///
/// The vacant slots are a list within the records, the slot that was vacated last first. Without
/// members there is no list: slots are given out in ascending order again, and what belongs to
/// members that join one after the other is adjacent.
struct HeapMembers<Member>: ~Copyable {
    private struct Record {
        /// `nil` while the slot is vacant.
        var member: Member?
        /// The member's serial number; of a vacant slot, the next vacant one plus one, or zero.
        var number: UInt64
    }

    private var records = OwnedArray<Record>()
    /// The first vacant slot plus one; zero if there is none.
    private var firstVacant: UInt64 = 0
    private(set) var count = 0

    /// The slot's member.
    subscript(slot: HeapSlot) -> Member? { records[Int(slot)].member }

    /// Those that have a slot.
    var all: [Member] { records.indices.compactMap { records[$0].member } }

    /// Gives a member a slot.
    @inline(__always)
    mutating func insert(_ member: consuming Member, serial: UInt64 = 0) -> HeapSlot {
        count &+= 1
        guard firstVacant == 0 else { return insertIntoVacant(member, serial) }
        records.append(Record(member: member, number: serial))
        return HeapSlot(truncatingIfNeeded: records.count - 1)
    }

    private mutating func insertIntoVacant(_ member: consuming Member, _ serial: UInt64) -> HeapSlot
    {
        let slot = Int(firstVacant - 1)
        firstVacant = records[slot].number
        records[slot] = Record(member: member, number: serial)
        return HeapSlot(truncatingIfNeeded: slot)
    }

    /// Vacates a slot.
    ///
    /// - Returns: Its member, for the caller to release.
    @discardableResult
    @inline(__always)
    mutating func remove(_ slot: HeapSlot) -> Member? {
        let member = records[Int(slot)].member.take()
        records[Int(slot)].number = firstVacant
        firstVacant = UInt64(truncatingIfNeeded: slot) &+ 1
        count &-= 1
        if count == 0 {
            records.forgetAll()
            firstVacant = 0
        }
        return member
    }

    func serial(of slot: HeapSlot) -> UInt64 { records[Int(slot)].number }

    mutating func setSerial(_ serial: UInt64, of slot: HeapSlot) {
        records[Int(slot)].number = serial
    }
}

/// A number that stands for one member of a mode; small, and used again after its member has left.
typealias HeapSlot = Int32

extension HeapMembers where Member: AnyObject {
    /// Tells the processor that a slot's member is about to be used.
    @inline(__always)
    func prefetchMember(of slot: HeapSlot) { prefetch(records[Int(slot)].member) }
}
