import Testing

@testable import UVRunLoop

/// Where the engine keeps the modes of a timer.
@Suite(.timeLimit(.minutes(15))) struct EngineTimerModeTests {
    private let other = UVRunLoop.Mode("engine timers, other")

    /// A timer has eight bits for none and for the index of its mode.
    @Test(arguments: [(253, false), (254, false), (255, true), (256, true), (1_000, true)])
    func aTimerFiresInAModeWhateverItsIndex(last: Int, isElsewhere: Bool) {
        var engine = Engine()
        engine.addModes(upTo: last)
        #expect(engine.modes.makeIndex(of: other) == last)
        let timer = engine.makeTimer(at: 10)
        engine.add(timer, to: other)
        let isThere = engine.contains(timer, in: other)
        #expect(isThere && timer.core.hasModesElsewhere == isElsewhere)
        engine.setDate(20, of: timer)
        let fired = (engine.fire(now: 19, in: last).count, engine.fire(now: 20, in: last).count)
        #expect(fired == (0, 1))
        #expect(engine.allTimers.isEmpty && !timer.core.hasModesElsewhere)

        let second = engine.addTimer(at: 30)
        engine.add(second, to: other)
        let stays = engine.remove(second, from: .default)
        #expect(stays && second.core.hasModesElsewhere == isElsewhere)
        let dates = (engine.soonestDate(in: .default), engine.soonestDate(in: other))
        #expect(dates.0 == nil && dates.1 == 30)
        engine.add(second, to: .default)
        let staysStill = engine.remove(second, from: other)
        #expect(staysStill && !second.core.hasModesElsewhere)
        let firedOnce = engine.fire(now: 30).count
        #expect(firedOnce == 1 && engine.allTimers.isEmpty)
    }
}

extension Engine {
    /// Adds modes until the next one has an index.
    fileprivate mutating func addModes(upTo index: Int) {
        for number in modes.count..<index {
            _ = modes.makeIndex(of: UVRunLoop.Mode("engine timers, mode \(number)"))
        }
    }
}
