import Testing

@testable import UVRunLoop

/// Which modes a loop knows.
@Suite(.timeLimit(.minutes(15))) struct ModeTableTests {
    @Test func theDefaultModeIsKnownAndCommonFromTheBeginning() {
        let table = ModeTable<LoopItems>()
        #expect(table.names == [.default])
        #expect(table.common.map { table[$0].mode } == [.default])
    }

    @Test func aModeIsUnknownUntilSomethingIsPutIntoIt() {
        var table = ModeTable<LoopItems>()
        let mode = UVRunLoop.Mode("table A")
        #expect(table.index(of: mode) == nil)
        let index = table.makeIndex(of: mode)
        #expect(table.index(of: mode) == index)
        #expect(table.makeIndex(of: UVRunLoop.Mode(rawValue: "table A")) == index)
        #expect(table[index].mode == mode)
        let contents = (table[index].holdsItems, table[index].isCommon)
        #expect(contents == (false, false))
        #expect(table.names == [.default, mode])
    }

    @Test func aModeBecomesCommonOnce() {
        var table = ModeTable<LoopItems>()
        let mode = UVRunLoop.Mode("table B")
        let index = table.insertCommon(mode)
        #expect(index != nil && index == table.index(of: mode))
        #expect(table.insertCommon(mode) == nil)
        #expect(table.insertCommon(.default) == nil)
        #expect(table.common.map { table[$0].mode } == [.default, mode])
    }

    @Test func theContentsOfModesAreApart() {
        var table = ModeTable<LoopItems>()
        let indices = ["C", "D", "E"].map { table.makeIndex(of: UVRunLoop.Mode("table \($0)")) }
        let timer = UVRunLoop.Timer(after: .seconds(3600), sendableHandler: { _ in })
        timer.invalidate()
        _ = table[indices[0]].sources.insert(Ticket(slot: 0, generation: 1))
        let place = table[indices[1]].join(timer, serial: 1)
        _ = table[indices[2]].ports.insert(Ticket(slot: 0, generation: 1))
        #expect(indices.map { table[$0].sources.count } == [1, 0, 0])
        #expect(indices.allSatisfy { table[$0].holdsItems })
        table[indices[1]].timerDidLeave(place)
        #expect(table[indices[1]].holdsItems == false)
    }
}
