import Testing

@testable import UVRunLoop

/// What the engine makes of timers, without a clock.
@Suite struct EngineTimerTests {
    private let other = UVRunLoop.Mode("engine timers, other")

    @Test func dueTimersAreTakenByDateAndCarryWhatTheyMissed() {
        var engine = Engine()
        let late = engine.addTimer(at: 40, every: 10)
        let early = engine.addTimer(at: 20)
        _ = engine.addTimer(at: 91)
        let fired = engine.fire(now: 90)
        #expect(fired.map(\.ticket) == [early, late])
        #expect(fired.map(\.missed) == [0, 5])
        let next = engine.soonestDate(in: .default)
        #expect(next == 91)
    }

    @Test func aOneShotIsHandedOutWhenItsCallEnds() {
        var engine = Engine()
        let ticket = engine.addTimer(at: 10)
        let batch = engine.beginBatch(in: 0, now: 10)
        let firing = engine.takeNext(of: batch, in: 0)
        #expect(firing?.ticket == ticket)
        let during = (engine.modes[0].timerCount, engine.soonestDate(in: .default))
        #expect(during == (1, 10))
        let done = engine.finishCall(ticket, now: nil)
        #expect(done == "done on 10")
        let after = (engine.modes[0].timerCount, engine.timers.tickets.count, engine.firing.count)
        #expect(after == (0, 0, 0))
        let again = engine.endCall(ticket, now: nil).summary
        #expect(again == "elsewhere")
    }

    @Test func aTimerOnTheStackIsNotTakenByANestedBatch() {
        var engine = Engine()
        let first = engine.addTimer(at: 1, every: 1)
        let second = engine.addTimer(at: 2, every: 1)
        let outer = engine.beginBatch(in: 0, now: 5)
        let firing = engine.takeNext(of: outer, in: 0)
        #expect(firing?.ticket == first)
        let inner = engine.fire(now: 50)
        #expect(inner.map(\.ticket) == [second])
        let nothing = engine.takeNext(of: outer, in: 0)
        #expect(nothing == nil)
        _ = engine.finishCall(first, now: 50)
        engine.modes[0].timers.endBatch()
        let dates = (engine.timers[first]?.series.date, engine.timers[second]?.series.date)
        #expect(dates == (51, 51))
        let deadline = engine.deadline(in: 0)
        #expect(deadline == Deadline(earliest: 51, latest: 51))
    }

    @Test func aTimerOnTheStackIsNoDeadlineButStillADate() {
        var engine = Engine()
        let ticket = engine.addTimer(at: 10, every: 5)
        _ = engine.beginCall(ticket)
        let during = (engine.deadline(in: 0), engine.soonestDate(in: .default))
        #expect(during.0 == nil && during.1 == 10)
        _ = engine.finishCall(ticket, now: nil)
        let after = engine.deadline(in: 0)
        #expect(after == Deadline(earliest: 10, latest: 10))
    }

    @Test func aDateSetDuringTheCallIsKept() {
        var engine = Engine()
        let ticket = engine.addTimer(at: 10, every: 5)
        _ = engine.beginCall(ticket)
        engine.setDate(1000, of: ticket)
        let during = engine.deadline(in: 0)
        #expect(during == nil)
        _ = engine.finishCall(ticket, now: 23)
        let date = engine.soonestDate(in: .default)
        #expect(date == 1000)
        let fired = engine.fire(now: 1012)
        #expect(fired.map(\.missed) == [2])
    }

    @Test func aTimerSetBackWithinABatchWaitsForTheNext() {
        var engine = Engine()
        let first = engine.addTimer(at: 1, every: 100)
        let second = engine.addTimer(at: 2, every: 100)
        let batch = engine.beginBatch(in: 0, now: 10)
        let firing = engine.takeNext(of: batch, in: 0)
        #expect(firing?.ticket == first)
        engine.setDate(3, of: second)
        let none = engine.takeNext(of: batch, in: 0)
        #expect(none == nil)
        _ = engine.finishCall(first, now: 10)
        engine.modes[0].timers.endBatch()
        let fired = engine.fire(now: 10)
        #expect(fired.map(\.ticket) == [second])
    }

    /// The date stays the same, and with it the timer's turn.
    @Test func aToleranceSetWithinABatchChangesNoTurn() {
        var engine = Engine()
        let tickets = (1...3).map { engine.addTimer(at: $0, every: 100) }
        let batch = engine.beginBatch(in: 0, now: 10)
        var fired: [Ticket] = []
        while let firing = engine.takeNext(of: batch, in: 0) {
            fired.append(firing.ticket)
            if firing.ticket == tickets[0] { engine.setTolerance(50, of: tickets[1]) }
            _ = engine.finishCall(firing.ticket, now: 10)
        }
        engine.modes[0].timers.endBatch()
        #expect(fired == tickets)
    }

    /// `fire()` leaves the dates of a repeating timer as they were, and so its turn.
    @Test func aTimerFiredByHandWithinABatchKeepsItsTurn() {
        var engine = Engine()
        let tickets = (1...3).map { engine.addTimer(at: $0, every: 100) }
        let batch = engine.beginBatch(in: 0, now: 10)
        var fired: [Ticket] = []
        while let firing = engine.takeNext(of: batch, in: 0) {
            fired.append(firing.ticket)
            if firing.ticket == tickets[0] {
                _ = engine.beginCall(tickets[1])
                _ = engine.finishCall(tickets[1], now: nil)
            }
            _ = engine.finishCall(firing.ticket, now: 10)
        }
        engine.modes[0].timers.endBatch()
        #expect(fired == tickets)
    }

    @Test func aTimerInSeveralModesIsTakenOutOfAllWhileItFires() {
        var engine = Engine()
        let ticket = engine.addTimer(at: 10, every: 10)
        engine.add(ticket, timerTo: other)
        let index = engine.modes.makeIndex(of: other)
        let fired = engine.fire(now: 15)
        #expect(fired.count == 1)
        let deadlines = (engine.deadline(in: 0), engine.deadline(in: index))
        #expect(deadlines.0 == Deadline(earliest: 20, latest: 20))
        #expect(deadlines.1 == deadlines.0)
        let nothing = engine.fire(now: 15, in: index)
        #expect(nothing.isEmpty)
    }

    @Test func aModeThatATimerJoinsDuringItsCallQueuesItAfterwards() {
        var engine = Engine()
        let ticket = engine.addTimer(at: 10, every: 10)
        _ = engine.beginCall(ticket)
        engine.add(ticket, timerTo: other)
        let index = engine.modes.makeIndex(of: other)
        let during = engine.deadline(in: index)
        #expect(during == nil)
        _ = engine.finishCall(ticket, now: 12)
        let after = engine.deadline(in: index)
        #expect(after == Deadline(earliest: 20, latest: 20))
    }

    @Test func toleranceWidensTheDeadline() {
        var engine = Engine()
        let ticket = engine.addTimer(at: 10, tolerance: 7)
        let wide = engine.deadline(in: 0)
        #expect(wide == Deadline(earliest: 10, latest: 17))
        engine.setTolerance(0, of: ticket)
        let narrow = engine.deadline(in: 0)
        #expect(narrow == Deadline(earliest: 10, latest: 10))
        engine.setTolerance(.max - 11, of: ticket)
        let open = engine.deadline(in: 0)
        #expect(open == Deadline(earliest: 10, latest: .max - 1))
        // A window that never closes ends no sleep.
        engine.setTolerance(.max, of: ticket)
        let endless = engine.deadline(in: 0)
        #expect(endless == nil || endless?.latest == .max)
    }

    @Test func whatIsAskedOfATimerThatLeftIsNothing() {
        var engine = Engine()
        let ticket = engine.addTimer(at: 10)
        let found = engine.timers.removeEverywhere(ticket, in: &engine.modes)
        #expect(found != nil)
        engine.setDate(5, of: ticket)
        engine.setTolerance(5, of: ticket)
        _ = engine.beginCall(ticket)
        let end = engine.endCall(ticket, now: nil).summary
        let rest = (engine.soonestDate(in: .default), engine.modes[0].timerCount)
        #expect(end == "elsewhere" && rest.0 == nil && rest.1 == 0)
    }
}

extension Engine {
    fileprivate mutating func addTimer(
        at date: Int64,
        every interval: Int64? = nil,
        tolerance: Int64 = 0
    ) -> Ticket {
        let timer = UVRunLoop.Timer(
            after: .zero,
            interval: interval.map { .nanoseconds($0) },
            sendableHandler: { _ in }
        )
        let series = FireSeries(date: date, interval: interval)
        let ticket = timers.insert(
            TimerRecord(timer: timer, series: series, tolerance: tolerance)
        )
        add(ticket, timerTo: .default)
        return ticket
    }

    /// Fires everything that is due, by handlers that take no time.
    fileprivate mutating func fire(now: Int64, in mode: Int = 0) -> [Firing] {
        let batch = beginBatch(in: mode, now: now)
        var fired: [Firing] = []
        while let firing = takeNext(of: batch, in: mode) {
            fired.append(firing)
            _ = finishCall(firing.ticket, now: now)
        }
        modes[mode].timers.endBatch()
        return fired
    }

    /// Does what a loop does after a handler has returned.
    fileprivate mutating func finishCall(_ ticket: Ticket, now: Int64?) -> String {
        endCall(ticket, now: now).summary
    }
}

extension TimerAfterCall {
    fileprivate var summary: String {
        switch self {
        case .scheduled: "scheduled"
        case .done(let record): "done on \(record.series.date)"
        case .elsewhere: "elsewhere"
        }
    }
}
