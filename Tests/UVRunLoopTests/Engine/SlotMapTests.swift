import Testing

@testable import UVRunLoop

/// Slots that are used again, and tickets that are not.
@Suite(.timeLimit(.minutes(15))) struct SlotMapTests {
    @Test func aStaleTicketFindsNothingRatherThanAStranger() {
        let map = Map<String>()
        let old = map.insert("old")
        #expect(map.remove(old) == "old")
        let new = map.insert("new")
        #expect(new.slot == old.slot && new != old)
        #expect(map[old] == nil)
        #expect(!map.holds(old))
        #expect(map.remove(old) == nil)
        #expect(map.modify(old) { $0 = "changed" } == nil)
        #expect(map[new] == "new")
    }

    @Test func theTicketOfNobodyFindsNothing() {
        let map = Map<Int>()
        #expect(map[.none] == nil)
        _ = map.insert(1)
        #expect(map[.none] == nil && !map.holds(.none))
        #expect(map.remove(.none) == nil)
        #expect(map.modify(.none) { $0 += 1 } == nil)
    }

    @Test func anItemIsChangedInPlace() {
        let map = Map<Int>()
        let ticket = map.insert(1)
        #expect(
            map.modify(ticket) { item -> String in
                item += 1
                return "done"
            } == "done"
        )
        #expect(map[ticket] == 2)
    }

    @Test func aMapIsEmptyWhenItsLastItemIsGone() {
        let map = Map<Int>()
        #expect(map.tickets.isEmpty)
        let tickets = (0..<3).map { map.insert($0) }
        for ticket in tickets {
            #expect(!map.tickets.isEmpty)
            #expect(map.remove(ticket) != nil)
        }
        #expect(map.tickets.isEmpty)
    }

    @Test(arguments: [21, 22] as [UInt64])
    func everyTicketFindsItsOwnItemOrNothing(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let map = Map<Int>()
        var model: [Ticket: Int] = [:]
        var stale: [Ticket] = []
        for number in 0..<2000 {
            if Int.random(in: 0..<5, using: &generator) < 3 {
                let ticket = map.insert(number)
                #expect(model[ticket] == nil && !stale.contains(ticket))
                model[ticket] = number
            } else if let (ticket, item) = model.randomElement(using: &generator) {
                #expect(map.remove(ticket) == item)
                model[ticket] = nil
                stale.append(ticket)
            }
        }
        for (ticket, item) in model { #expect(map[ticket] == item) }
        for ticket in stale { #expect(map[ticket] == nil) }
        #expect(Set(map.tickets) == Set(model.keys))
    }
}

/// A slot map whose properties `#expect` can read, which it does by copies.
private final class Map<Item> {
    private var slots = SlotMap<Item>()

    var tickets: [Ticket] { slots.tickets }

    func insert(_ item: Item) -> Ticket { slots.insert(item) }

    func remove(_ ticket: Ticket) -> Item? { slots.remove(ticket) }

    func holds(_ ticket: Ticket) -> Bool { slots.holds(ticket) }

    subscript(ticket: Ticket) -> Item? { slots[ticket] }

    func modify<Result>(_ ticket: Ticket, _ change: (inout Item) -> Result) -> Result? {
        slots.modify(ticket, change)
    }
}
