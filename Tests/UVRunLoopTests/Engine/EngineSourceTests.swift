import Testing

@testable import UVRunLoop

/// The engine's handling of custom sources and of common modes.
@Suite(.timeLimit(.minutes(15))) struct EngineSourceTests {
    private let other = UVRunLoop.Mode("engine sources, other")

    @Test func signalledSourcesComeByOrderAndThenByFirstSignal() {
        var engine = Engine()
        let sources = [2, 1, 2, 1].map { engine.addSource(order: $0) }
        for index in [2, 3, 0, 1, 2] { engine.signal(sources[index].ticket) }
        let signalled = engine.signalled(in: 0)
        let expected = [3, 1, 2, 0].map { sources[$0].source }
        #expect(signalled.elementsEqual(expected) { $0 === $1 })
        let first = engine.takeSignalled(in: 0)?.source
        #expect(first === expected[0])
        let rest = engine.signalled(in: 0)
        #expect(rest.elementsEqual(expected.dropFirst()) { $0 === $1 })
        let count = engine.signalledCount
        #expect(count == 3)
    }

    @Test func aSignalWaitsInEveryModeAndIsTakenInAll() {
        var engine = Engine()
        let source = engine.addSource()
        engine.signal(source.ticket)
        engine.join(source.ticket, other, isSignalled: true)
        let index = engine.modes.makeIndex(of: other)
        let before = (engine.modes[0].signalled.count, engine.modes[index].signalled.count)
        #expect(before == (1, 1))
        engine.clearSignal(source.ticket)
        let after = (engine.modes[0].signalled.count, engine.modes[index].signalled.count)
        #expect(after == (0, 0))
        engine.clearSignal(source.ticket)
        let count = engine.signalledCount
        #expect(count == 0)
    }

    @Test func aSourceThatWasSignalledBeforeItJoinedIsReady() {
        var engine = Engine()
        let source = engine.addSource(isSignalled: true)
        let first = engine.takeSignalled(in: 0)?.source
        #expect(first === source.source)
    }

    /// So what a mode keeps for its queue does not grow with the sources of other modes.
    @Test func aModeNumbersItsOwnSources() {
        var engine = Engine()
        for _ in 1...3 { _ = engine.addSource() }
        let source = engine.addSource()
        engine.join(source.ticket, other, isSignalled: false)
        let index = engine.modes.makeIndex(of: other)
        let attachment = engine.sources[source.ticket]?.attachment
        #expect(attachment?.heapSlot(in: 0) == 3)
        #expect(attachment?.heapSlot(in: index) == 0)
        engine.signal(source.ticket)
        let first = engine.takeSignalled(in: index)?.source
        #expect(first === source.source)
    }

    @Test func aSourceThatLeavesTakesItsSignalAlong() {
        var engine = Engine()
        let source = engine.addSource(isSignalled: true)
        let left = engine.removeSource(source.ticket)
        #expect(left == [.default])
        let rest = (
            engine.signalledCount, engine.modes[0].signalled.count, engine.modes[0].sources.count
        )
        #expect(rest == (0, 0, 0))
        engine.signal(source.ticket)
        let count = engine.signalledCount
        #expect(count == 0)
    }

    @Test func leavingOneModeKeepsTheSignalInTheOther() {
        var engine = Engine()
        let source = engine.addSource(isSignalled: true)
        engine.join(source.ticket, other, isSignalled: true)
        _ = engine.sources.remove(source.ticket, from: .default, in: &engine.modes)
        let index = engine.modes.makeIndex(of: other)
        let state = (
            engine.modes[0].signalled.count, engine.modes[index].signalled.count,
            engine.signalledCount
        )
        #expect(state == (0, 1, 1))
    }

    @Test func aModeThatBecomesCommonGetsWhatIsRecordedAsCommon() {
        var engine = Engine()
        let common = engine.addSource(to: .common, isSignalled: true)
        _ = engine.addSource()
        let joined = engine.addCommonMode(other)
        #expect(joined?.count == 1 && joined?.first === common.source)
        let index = engine.modes.makeIndex(of: other)
        let state = (engine.modes[index].sources.count, engine.modes[index].signalled.count)
        #expect(state == (1, 1))
        let again = engine.addCommonMode(other)
        #expect(again == nil)
    }

    @Test func removalFromTheCommonModesLeavesTheOthersAlone() {
        var engine = Engine()
        let source = engine.addSource(to: .common)
        engine.join(source.ticket, other, isSignalled: false)
        _ = engine.addCommonMode(UVRunLoop.Mode("engine sources, third"))
        _ = engine.sources.remove(source.ticket, from: .common, in: &engine.modes)
        let modes = [.default, UVRunLoop.Mode("engine sources, third"), .common, other]
        let isThere = modes.map {
            engine.sources.contains(source.ticket, in: $0, of: engine.modes)
        }
        let dropped = engine.sources.dropIfUnused(source.ticket) != nil
        #expect(isThere == [false, false, false, true] && !dropped)
    }

    @Test func removalFromOneModeLeavesTheRecordOfACommonItem() {
        var engine = Engine()
        let source = engine.addSource(to: .common)
        _ = engine.sources.remove(source.ticket, from: .default, in: &engine.modes)
        let state = (
            engine.sources.contains(source.ticket, in: .default, of: engine.modes),
            engine.sources.contains(source.ticket, in: .common, of: engine.modes),
            engine.sources.dropIfUnused(source.ticket) != nil
        )
        #expect(state == (false, true, false))
        let joined = engine.addCommonMode(other)
        #expect(joined?.count == 1)
    }

    @Test func aClosedEngineGivesEverythingBack() {
        var engine = Engine()
        let source = engine.addSource(to: .common, isSignalled: true)
        let remains = engine.close()
        #expect(remains.sources.count == 1)
        #expect(remains.sources.first?.record.source === source.source)
        let state = (
            engine.isClosed, engine.signalledCount, engine.modes[0].holdsItems,
            engine.sources.tickets.count
        )
        #expect(state == (true, 0, false, 0))
        let joined = engine.addCommonMode(other)
        #expect(joined == nil)
    }

    @Test func everyChangeOfTheContentsMakesANewVersion() {
        var engine = Engine()
        let before = engine.summary.version
        let source = engine.addSource()
        let added = engine.summary.version
        #expect(added > before)
        engine.signal(source.ticket)
        let signalled = engine.summary.version
        #expect(signalled == added)
        _ = engine.addCommonMode(other)
        let common = engine.summary.version
        #expect(common > added)
    }
}

extension Engine {
    fileprivate mutating func addSource(
        order: Int = 0,
        to mode: UVRunLoop.Mode = .default,
        isSignalled: Bool = false
    ) -> (source: UVRunLoop.Source, ticket: Ticket) {
        let source = UVRunLoop.Source(order: order, sendablePerform: { _ in })
        let ticket = sources.insert(SourceRecord(source: source))
        join(ticket, mode, isSignalled: isSignalled)
        return (source, ticket)
    }

    fileprivate mutating func join(
        _ ticket: Ticket,
        _ mode: UVRunLoop.Mode,
        isSignalled: Bool
    ) {
        let signal = isSignalled ? nextSerial() : nil
        _ = add(ticket, sourceTo: mode, signal: signal)
    }

    fileprivate mutating func signal(_ ticket: Ticket) {
        let serial = nextSerial()
        markSignalled(ticket, serial)
    }

    /// The signalled sources of a mode in the order of their turns.
    fileprivate func signalled(in mode: Int) -> [UVRunLoop.Source] {
        var batch: [SignalledSource] = []
        collectSignalled(in: mode, into: &batch)
        return batch.sorted { $0.turn < $1.turn }.map(\.source)
    }
}
