import Testing

@testable import UVRunLoop

/// The engine's handling of timers, without a clock.
@Suite(.timeLimit(.minutes(15))) struct EngineTimerTests {
    private let other = UVRunLoop.Mode("engine timers, other")

    @Test func dueTimersAreTakenByDateAndCarryWhatTheyMissed() {
        var engine = Engine()
        let late = engine.addTimer(at: 40, every: 10)
        let early = engine.addTimer(at: 20)
        _ = engine.addTimer(at: 91)
        let fired = engine.fire(now: 90)
        #expect(
            fired.map(\.timer).map(ObjectIdentifier.init)
                == [early, late].map(ObjectIdentifier.init)
        )
        #expect(fired.map(\.missed) == [0, 5])
        let next = engine.soonestDate(in: .default)
        #expect(next == 91)
    }

    @Test func aOneShotIsHandedOutWhenItsCallEnds() {
        var engine = Engine()
        let timer = engine.addTimer(at: 10)
        engine.modes[0].timers.beginBatch(now: 10)
        let firing = engine.takeNext(at: 10)
        #expect(firing?.timer === timer)
        let during = (engine.modes[0].timerCount, engine.soonestDate(in: .default))
        #expect(during == (1, 10))
        let goesOn = engine.endCall(timer, now: nil)
        #expect(!goesOn && timer.date == 10)
        let after = (
            engine.modes[0].timerCount, engine.allTimers.count, engine.runningTimers.timers.count
        )
        #expect(after == (0, 0, 0))
    }

    @Test func aTimerOnTheStackIsNotTakenByANestedBatch() {
        var engine = Engine()
        let first = engine.addTimer(at: 1, every: 1)
        let second = engine.addTimer(at: 2, every: 1)
        engine.modes[0].timers.beginBatch(now: 5)
        let firing = engine.takeNext(at: 5)
        #expect(firing?.timer === first)
        let inner = engine.fire(now: 50)
        #expect(
            inner.map(\.timer).map(ObjectIdentifier.init) == [second].map(ObjectIdentifier.init)
        )
        let nothing = engine.takeNext(at: 5)
        #expect(nothing?.timer == nil)
        _ = engine.endCall(first, now: 50)
        _ = engine.endBatch(in: 0)
        let dates = (first.date, second.date)
        #expect(dates == (51, 51))
        let window = engine.modes[0].timers.wakeWindow
        #expect(window == WakeWindow(earliest: 51, latest: 51))
    }

    @Test func aTimerOnTheStackIsNoDeadlineButStillADate() {
        var engine = Engine()
        let timer = engine.addTimer(at: 10, every: 5)
        engine.beginCall(timer)
        let during = (engine.modes[0].timers.wakeWindow, engine.soonestDate(in: .default))
        #expect(during.0 == nil && during.1 == 10)
        _ = engine.endCall(timer, now: nil)
        let after = engine.modes[0].timers.wakeWindow
        #expect(after == WakeWindow(earliest: 10, latest: 10))
    }

    @Test func aDateSetDuringTheCallIsKept() {
        var engine = Engine()
        let timer = engine.addTimer(at: 10, every: 5)
        engine.beginCall(timer)
        engine.setDate(1000, of: timer)
        let during = engine.modes[0].timers.wakeWindow
        #expect(during == nil)
        _ = engine.endCall(timer, now: 23)
        let date = engine.soonestDate(in: .default)
        #expect(date == 1000)
        let fired = engine.fire(now: 1012)
        #expect(fired.map(\.missed) == [2])
    }

    @Test func aTimerThatIsSetToADueDateWithinABatchKeepsItsTurn() {
        var engine = Engine()
        let timers = (1...3).map { engine.addTimer(at: $0, every: 100) }
        engine.modes[0].timers.beginBatch(now: 10)
        let first = engine.takeNext(at: 10)
        #expect(first?.timer === timers[0])
        engine.setDate(10, of: timers[1])
        _ = engine.endCall(timers[0], now: 10)
        let second = engine.takeNext(at: 10)
        #expect(second?.timer === timers[1])
        _ = engine.endCall(timers[1], now: 10)
        let third = engine.takeNext(at: 10)
        #expect(third?.timer === timers[2])
        _ = engine.endCall(timers[2], now: 10)
        let rest = engine.takeNext(at: 10)
        #expect(rest?.timer == nil)
        let held = engine.endBatch(in: 0)
        #expect(held?.count == 1)
    }

    @Test func aTimerThatIsSetToALaterDateWithinABatchIsNotFiredByIt() {
        var engine = Engine()
        let first = engine.addTimer(at: 1, every: 100)
        let second = engine.addTimer(at: 2, every: 100)
        engine.modes[0].timers.beginBatch(now: 10)
        let firing = engine.takeNext(at: 10)
        #expect(firing?.timer === first)
        engine.setDate(11, of: second)
        let none = engine.takeNext(at: 10)
        #expect(none?.timer == nil)
        _ = engine.endCall(first, now: 10)
        _ = engine.endBatch(in: 0)
        let fired = engine.fire(now: 11)
        #expect(
            fired.map(\.timer).map(ObjectIdentifier.init) == [second].map(ObjectIdentifier.init)
        )
    }

    /// It was not due when the batch began.
    @Test func aTimerThatBecomesDueWithinABatchWaitsForTheNext() {
        var engine = Engine()
        let first = engine.addTimer(at: 1, every: 100)
        let second = engine.addTimer(at: 50, every: 100)
        engine.modes[0].timers.beginBatch(now: 10)
        let firing = engine.takeNext(at: 10)
        #expect(firing?.timer === first)
        engine.setDate(10, of: second)
        let none = engine.takeNext(at: 10)
        #expect(none?.timer == nil)
        _ = engine.endCall(first, now: 10)
        _ = engine.endBatch(in: 0)
    }

    @Test func aTimerThatLeavesAndComesBackWithinABatchKeepsItsTurn() {
        var engine = Engine()
        let timers = (1...3).map { engine.addTimer(at: $0, every: 100) }
        engine.modes[0].timers.beginBatch(now: 10)
        let first = engine.takeNext(at: 10)
        #expect(first?.timer === timers[0])
        for timer in timers[1...] { _ = engine.remove(timer, from: .default) }
        engine.add(timers[1], to: .default)
        _ = engine.endCall(timers[0], now: 10)
        let second = engine.takeNext(at: 10)
        #expect(second?.timer === timers[1])
        _ = engine.endCall(timers[1], now: 10)
        let rest = engine.takeNext(at: 10)
        #expect(rest?.timer == nil)
        _ = engine.endBatch(in: 0)
    }

    @Test func aTimerIsLeftAloneByAModeThatHasIt() {
        var engine = Engine()
        let timers = (1...5).map { _ in engine.addTimer(at: 7) }
        engine.add(timers[1], to: .default)
        engine.add(timers[2], to: .common)
        engine.add(timers[3], to: other)
        engine.modes[0].timers.beginBatch(now: 7)
        var fired: [UVRunLoop.Timer] = []
        while let firing = engine.takeNext(at: 7) {
            fired.append(firing.timer)
            if fired.count < 3 { engine.add(timers[3], to: .default) }
            _ = engine.endCall(firing.timer, now: 7)
        }
        _ = engine.endBatch(in: 0)
        #expect(fired.map(ObjectIdentifier.init) == timers.map(ObjectIdentifier.init))
    }

    @Test func batchesAreNumberedAnewWithTheSameTimersInThem() {
        var engine = Engine()
        let timers = (1...4).map { engine.addTimer(at: $0, every: 100) }
        engine.modes[0].timers.beginBatch(now: 10)
        let first = engine.takeNext(at: 10)
        #expect(first?.timer === timers[0])
        let late = engine.addTimer(at: 5)
        engine.modes[0].timers.beginBatch(now: 10)
        engine.modes[0].timers.renumberBatches()
        let second = engine.takeNext(at: 10)
        #expect(second?.timer === timers[1])
        _ = engine.endCall(timers[1], now: 10)
        let inner = (0..<3).compactMap { _ in
            let firing = engine.takeNext(at: 10)
            if let timer = firing?.timer { _ = engine.endCall(timer, now: 10) }
            return firing?.timer
        }
        #expect(
            inner.map(ObjectIdentifier.init)
                == [timers[2], timers[3], late].map(ObjectIdentifier.init)
        )
        _ = engine.endBatch(in: 0)
        _ = engine.addTimer(at: 6)
        engine.modes[0].timers.renumberBatches()
        let none = engine.takeNext(at: 10)
        #expect(none?.timer == nil)
        _ = engine.endBatch(in: 0)
    }

    @Test func anEngineThatIsClosedHandsEachTimerOutOnce() {
        var engine = Engine()
        let timer = engine.addTimer(at: 7)
        engine.add(timer, to: other)
        let commonWithoutMode = engine.addTimer(at: 7)
        engine.add(commonWithoutMode, to: .common)
        _ = engine.remove(commonWithoutMode, from: .default)
        let remains = engine.close()
        #expect(
            Set(remains.timers.map(ObjectIdentifier.init))
                == Set([timer, commonWithoutMode].map(ObjectIdentifier.init))
        )
        #expect(remains.timers.count == 2)
    }

    /// The date stays the same, and with it the timer's turn.
    @Test func aToleranceSetWithinABatchChangesNoTurn() {
        var engine = Engine()
        let timers = (1...3).map { engine.addTimer(at: $0, every: 100) }
        engine.modes[0].timers.beginBatch(now: 10)
        var fired: [UVRunLoop.Timer] = []
        while let firing = engine.takeNext(at: 10) {
            fired.append(firing.timer)
            if firing.timer === timers[0] { engine.setTolerance(50, of: timers[1]) }
            _ = engine.endCall(firing.timer, now: 10)
        }
        _ = engine.endBatch(in: 0)
        #expect(fired.map(ObjectIdentifier.init) == timers.map(ObjectIdentifier.init))
    }

    /// `fire()` leaves the dates of a repeating timer as they were, and so its turn.
    @Test func aTimerFiredByHandWithinABatchKeepsItsTurn() {
        var engine = Engine()
        let timers = (1...3).map { engine.addTimer(at: $0, every: 100) }
        engine.modes[0].timers.beginBatch(now: 10)
        var fired: [UVRunLoop.Timer] = []
        while let firing = engine.takeNext(at: 10) {
            fired.append(firing.timer)
            if firing.timer === timers[0] {
                engine.beginCall(timers[1])
                _ = engine.endCall(timers[1], now: nil)
            }
            _ = engine.endCall(firing.timer, now: 10)
        }
        _ = engine.endBatch(in: 0)
        #expect(fired.map(ObjectIdentifier.init) == timers.map(ObjectIdentifier.init))
    }

    @Test func aTimerInSeveralModesIsTakenOutOfAllWhileItFires() {
        var engine = Engine()
        let timer = engine.addTimer(at: 10, every: 10)
        engine.add(timer, to: other)
        let index = engine.modes.makeIndex(of: other)
        let fired = engine.fire(now: 15)
        #expect(fired.count == 1)
        let windows = (engine.modes[0].timers.wakeWindow, engine.modes[index].timers.wakeWindow)
        #expect(windows.0 == WakeWindow(earliest: 20, latest: 20))
        #expect(windows.1 == windows.0)
        let nothing = engine.fire(now: 15, in: index)
        #expect(nothing.isEmpty)
    }

    @Test func aModeThatATimerJoinsDuringItsCallQueuesItAfterwards() {
        var engine = Engine()
        let timer = engine.addTimer(at: 10, every: 10)
        engine.modes[0].timers.beginBatch(now: 12)
        let firing = engine.takeNext(at: 12)
        #expect(firing?.timer === timer)
        engine.add(timer, to: other)
        let index = engine.modes.makeIndex(of: other)
        let during = engine.modes[index].timers.wakeWindow
        #expect(during == nil)
        _ = engine.endCall(timer, now: 12)
        let after = engine.modes[index].timers.wakeWindow
        #expect(after == WakeWindow(earliest: 20, latest: 20))
    }

    @Test func toleranceWidensTheDeadline() {
        var engine = Engine()
        let timer = engine.addTimer(at: 10, tolerance: 7)
        let wide = engine.modes[0].timers.wakeWindow
        #expect(wide == WakeWindow(earliest: 10, latest: 17))
        engine.setTolerance(0, of: timer)
        let narrow = engine.modes[0].timers.wakeWindow
        #expect(narrow == WakeWindow(earliest: 10, latest: 10))
        engine.setTolerance(.max - 11, of: timer)
        let open = engine.modes[0].timers.wakeWindow
        #expect(open == WakeWindow(earliest: 10, latest: .max - 1))
        // A window that never closes ends no sleep.
        engine.setTolerance(.max, of: timer)
        let endless = engine.modes[0].timers.wakeWindow
        #expect(endless == nil || endless?.latest == .max)
    }

    @Test func aTimerThatLeftIsInNoModeAndNoQueue() {
        var engine = Engine()
        let timer = engine.addTimer(at: 10)
        engine.add(timer, to: other)
        engine.add(timer, to: .common)
        engine.remove(timer)
        let rest = (engine.soonestDate(in: .default), engine.soonestDate(in: other))
        #expect(rest.0 == nil && rest.1 == nil)
        let counts = (engine.modes[0].timerCount, engine.allTimers.count)
        #expect(counts == (0, 0))
        let isThere = [.default, .common, other].map { engine.contains(timer, in: $0) }
        #expect(isThere == [false, false, false])
    }

    @Test func aTimerLeavesOneModeAfterTheOther() {
        var engine = Engine()
        let modes = (0..<4).map { UVRunLoop.Mode("engine timers, mode \($0)") }
        for first in modes {
            let timer = engine.makeTimer(at: 10)
            for mode in modes { engine.add(timer, to: mode) }
            var left: Set<UVRunLoop.Mode> = []
            for mode in [first] + modes.filter({ $0 != first }) {
                left.insert(mode)
                let stays = engine.remove(timer, from: mode)
                #expect(stays == (left.count < modes.count))
                for mode in modes {
                    let isThere = engine.contains(timer, in: mode)
                    let date = engine.soonestDate(in: mode)
                    #expect(isThere == !left.contains(mode) && (date != nil) == isThere)
                }
            }
        }
        #expect(engine.allTimers.isEmpty)
    }

    @Test func aCommonTimerThatWasTakenOutOfEveryModeJoinsTheNextCommonOne() {
        var engine = Engine()
        let timer = engine.makeTimer(at: 10)
        engine.add(timer, to: .common)
        let stays = engine.remove(timer, from: .default)
        #expect(stays)
        let before = engine.soonestDate(in: .default)
        #expect(before == nil && engine.allTimers.count == 1)
        _ = engine.addCommonMode(other)
        let dates = (engine.soonestDate(in: .default), engine.soonestDate(in: other))
        #expect(dates.0 == nil && dates.1 == 10)
        let staysStill = engine.remove(timer, from: .common)
        #expect(!staysStill && engine.allTimers.isEmpty)
    }

    @Test func aOneShotWithToleranceMissesNothingAndHasNoNextDate() {
        var engine = Engine()
        let timer = engine.addTimer(at: 10, tolerance: 5)
        let fired = engine.fire(now: .max)
        #expect(fired.map(\.missed) == [0])
        #expect(timer.date == 10 && timer.skipDates(upTo: .max) == 0)
    }
}
