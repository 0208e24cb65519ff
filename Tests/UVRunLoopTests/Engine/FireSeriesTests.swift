import Testing

@testable import UVRunLoop

/// The dates of a timer in closed form, held against counting them one by one.
@Suite(.timeLimit(.minutes(15))) struct FireSeriesTests {
    @Test(arguments: [41, 42, 43, 44, 45] as [UInt64])
    func theClosedFormCountsAsOneByOneWould(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let interval = Int64.random(in: 1...50, using: &generator)
        let start = Int64.random(in: -1000...1000, using: &generator)
        let series = DatedSeries(date: start, interval: interval)
        var model = CountedSeries(next: start, interval: interval)
        var now = start
        for _ in 0..<2000 {
            now = max(now, series.date) + Int64.random(in: 0...120, using: &generator)
            #expect(series.date <= now)
            let missed = series.fire(at: now)
            #expect(missed == model.countDates(upTo: now) - 1)
            // The handler takes its time.
            now += [0, 0, 1, 30, 200].randomElement(using: &generator) ?? 0
            series.advance(past: now)
            #expect(series.date == model.firstDate(after: now))
        }
    }

    @Test(arguments: [51, 52] as [UInt64])
    func firesAndMissedDatesAreTheDatesThatHavePassed(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let series = DatedSeries(date: 0, interval: 7)
        var now: Int64 = 0
        var accounted: Int64 = 0
        for _ in 0..<500 {
            now = max(now, series.date) + Int64.random(in: 0...60, using: &generator)
            accounted += Int64(series.fire(at: now)) + 1
            #expect(accounted == now / 7 + 1)
            now += Int64.random(in: 0...60, using: &generator)
            series.advance(past: now)
            #expect(series.date > now && series.date % 7 == 0)
        }
    }

    @Test(arguments: [61, 62, 63] as [UInt64])
    func datesThatAreSkippedCountOnce(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let interval = Int64.random(in: 1...50, using: &generator)
        let series = DatedSeries(date: 0, interval: interval)
        var model = CountedSeries(next: 0, interval: interval)
        var now: Int64 = 0
        for _ in 0..<2000 {
            now += Int64.random(in: 0...80, using: &generator)
            if series.date <= now, Bool.random(using: &generator) {
                #expect(series.fire(at: now) == model.countDates(upTo: now) - 1)
                // The dates of the handler's time are skipped after the call or within it.
                let end = now + Int64.random(in: 0...60, using: &generator)
                if Bool.random(using: &generator) { series.advance(past: end) }
                now = end
            }
            #expect(series.skip(to: now) == model.countDates(upTo: now))
            series.advance(past: now)
            #expect(series.date == model.firstDate(after: now))
        }
    }

    @Test func theDateBeingFiredIsReadUntilTheSeriesMovesOn() {
        let series = DatedSeries(date: 10, interval: 5)
        #expect(series.fire(at: 22) == 2)
        #expect(series.date == 10)
        series.advance(past: 22)
        #expect(series.date == 25)
    }

    @Test func aDateExactlyNowHasPassed() {
        let series = DatedSeries(date: 10, interval: 5)
        #expect(series.fire(at: 10) == 0)
        series.advance(past: 15)
        #expect(series.date == 20)
        #expect(series.fire(at: 20) == 1)
        series.advance(past: 20)
        #expect(series.date == 25)
    }

    @Test func aSeriesThatBeginsAnewForgetsWhatItMissed() {
        let series = DatedSeries(date: 0, interval: 10)
        #expect(series.fire(at: 100) == 10)
        series.restart(at: 150)
        // The end of the call keeps a date that was set in it.
        series.advance(past: 155)
        #expect(series.date == 150)
        #expect(series.fire(at: 155) == 0)
        series.advance(past: 155)
        #expect(series.date == 160)
    }

    @Test func anExtraFireChangesNoDate() {
        let series = DatedSeries(date: 50, interval: 10)
        #expect(series.fire(at: 20) == 0)
        series.advance(past: 20)
        #expect(series.date == 50)
        #expect(series.fire(at: 50) == 0)
    }

    @Test func aLongSuspensionIsOneStep() {
        let century: Int64 = 100 * 365 * 86_400 * 1_000_000_000
        let series = DatedSeries(date: 0, interval: 100_000)
        #expect(series.fire(at: century) == Int(century / 100_000))
        series.advance(past: century)
        #expect(series.date == century + 100_000)
    }

    @Test(arguments: [1, 2, 1000, Int64.max / 2, Int64.max - 1, Int64.max] as [Int64])
    func aDateTooFarToBeWrittenDownIsTheLastThereIs(interval: Int64) {
        let starts: [Int64] = [.max, .max - 1]
        for start in starts {
            let series = DatedSeries(date: start, interval: interval)
            #expect(series.fire(at: start) == 0)
            series.advance(past: start)
            #expect(series.date > start || series.date == .max)
        }
        let series = DatedSeries(date: 0, interval: interval)
        #expect(series.fire(at: 0) == 0)
        series.advance(past: 0)
        #expect(series.date == interval)
    }

    @Test func theFarthestSpanThereIsDoesNotTrap() async {
        await #expect(processExitsWith: .success) { crossTheFarthestSpan() }
    }

    @Test func sumsSaturate() {
        #expect(Int64.max.addingSaturating(1) == .max)
        #expect(Int64.min.addingSaturating(-1) == .min)
        #expect(Int64.max.addingSaturating(.min) == -1)
        #expect((5 as Int64).addingSaturating(.max) == .max)
        #expect((-5 as Int64).addingSaturating(.max) == .max - 5)
        #expect((-5 as Int64).addingSaturating(.min) == .min)
    }
}

/// A repeating timer in no loop, which is fired by hand.
private struct DatedSeries {
    private let timer: UVRunLoop.Timer

    init(date: Int64, interval: Int64) {
        timer = UVRunLoop.Timer(date: date, .nanoseconds(interval)) { _ in }
        timer.useMark.dismiss()
    }

    var date: Int64 { timer.date }

    func restart(at date: Int64) { timer.restart(at: date) }

    /// Begins a fire, unless it goes on; returns the dates that it missed.
    func fire(at now: Int64) -> Int {
        beginCall()
        timer.accountForFire(at: now)
        return timer.missedFires
    }

    /// Ends the fire, or one that accounts for nothing.
    func advance(past now: Int64) {
        beginCall()
        timer.endCall(now: now)
    }

    func skip(to now: Int64) -> Int { timer.skipDates(upTo: now) }

    private func beginCall() {
        if !timer.core.isBeingCalled { timer.core.callWillBegin(forDate: true) }
    }
}

/// Knows the next date of a series, and counts.
private struct CountedSeries {
    var next: Int64
    let interval: Int64

    mutating func countDates(upTo now: Int64) -> Int {
        var count = 0
        while next <= now {
            next += interval
            count += 1
        }
        return count
    }

    func firstDate(after now: Int64) -> Int64 {
        var date = next
        while date <= now { date += interval }
        return date
    }
}

private func crossTheFarthestSpan() {
    let starts: [Int64] = [.min, -1, 0, 1]
    let intervals: [Int64] = [1, .max]
    let ends: [Int64] = [.max - 1, .max]
    for start in starts {
        for interval in intervals {
            for end in ends { cross(from: start, to: end, by: interval) }
        }
    }
}

private func cross(from start: Int64, to end: Int64, by interval: Int64) {
    let series = DatedSeries(date: start, interval: interval)
    precondition(series.fire(at: end) >= 0)
    series.advance(past: end)
    DatedSeries(date: start, interval: interval).advance(past: end)
}
