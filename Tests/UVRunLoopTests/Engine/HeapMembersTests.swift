import TestSupport
import Testing

@testable import UVRunLoop

/// The slots of a queue's members.
@Suite(.timeLimit(.minutes(15))) struct HeapMembersTests {
    @Test func aSlotIsUsedAgainOnlyAfterItsMemberHasLeft() {
        var members = HeapMembers<UInt32>()
        var given: [HeapSlot] = []
        for owner in 0..<5 as Range<UInt32> { given.append(members.insert(owner)) }
        #expect(Set(given).count == 5 && members.all == [0, 1, 2, 3, 4])
        let removed = members.remove(given[2])
        let rest = (members[given[2]], members.all)
        #expect(removed == 2 && rest.0 == nil && rest.1 == [0, 1, 3, 4])
        let again = members.insert(77)
        let next = members.insert(78)
        #expect(again == given[2] && !given.contains(next))
        #expect(members.all == [0, 1, 77, 3, 4, 78])
    }

    @Test func theSlotThatWasVacatedLastIsUsedFirst() {
        var members = HeapMembers<UInt32>()
        for owner in 0..<6 as Range<UInt32> { _ = members.insert(owner) }
        for slot in [4, 0, 2] as [HeapSlot] { members.remove(slot) }
        var given: [HeapSlot] = []
        for owner in 10..<14 as Range<UInt32> { given.append(members.insert(owner)) }
        #expect(given == [2, 0, 4, 6])
        #expect(members.all == [11, 1, 10, 3, 12, 5, 13])
    }

    @Test func withoutMembersTheSlotsAscendAgain() {
        var members = HeapMembers<UInt32>()
        for owner in 0..<4 as Range<UInt32> { _ = members.insert(owner) }
        for slot in [1, 3, 0, 2] as [HeapSlot] { members.remove(slot) }
        let rest = members.all
        #expect(rest == [])
        var given: [HeapSlot] = []
        for owner in 5..<8 as Range<UInt32> { given.append(members.insert(owner)) }
        #expect(given == [0, 1, 2])
        #expect(members.all == [5, 6, 7])
    }

    @Test func aSerialBelongsToTheMemberNotToTheSlot() {
        var members = HeapMembers<UInt32>()
        let first = members.insert(1, serial: 8)
        let second = members.insert(2, serial: 9)
        members.remove(first)
        let third = members.insert(3, serial: 10)
        let given = (members.serial(of: second), members.serial(of: third))
        #expect(third == first && given == (9, 10))
        members.setSerial(11, of: second)
        let changed = (members.serial(of: second), members.serial(of: third))
        #expect(changed == (11, 10))
    }

    @Test func aMemberIsReleasedWhenItsSlotIsVacatedOrTheQueueGoes() {
        weak var left: Box<Int>?
        weak var stayed: Box<Int>?
        do {
            var members = HeapMembers<Box<Int>>()
            for number in 0..<100 {
                let box = Box(number)
                if number == 3 { left = box }
                if number == 4 { stayed = box }
                _ = members.insert(box)
            }
            let before = (left != nil, stayed != nil)
            members.remove(3)
            #expect(before == (true, true))
            #expect(left == nil && stayed != nil)
            let owner = members[4]?.value
            #expect(owner == 4)
        }
        #expect(stayed == nil)
    }
}
