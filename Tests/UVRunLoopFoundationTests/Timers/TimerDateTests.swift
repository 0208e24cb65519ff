import FoundationEssentials
import TestSupport
import Testing
import UVRunLoopFoundation

/// Timers with dates and intervals in seconds.
@Suite(.timeLimit(.minutes(15))) struct TimerDateTests {
    typealias Timer = UVRunLoop.Timer

    @Test func theDateThatWasGivenIsReadBackExactly() {
        let now = Date()
        for date in [now, now - 10.25, now + 10.1, .distantPast, .distantFuture] {
            let timer = Timer(fire: date, interval: 1, repeats: true) { _ in }
            #expect(timer.fireDate == date)
            timer.fireDate = date + 1
            #expect(timer.fireDate == date + 1)
        }
    }

    @Test func theDateOfATimerMadeForAnIntervalIsThatIntervalAhead() {
        let before = Date()
        let timer = Timer(timeInterval: 5, repeats: false) { _ in }
        let after = Date()
        #expect(timer.fireDate >= before + 5 && timer.fireDate <= after + 5)
        #expect(timer.fireDate == timer.fireDate)
    }

    @Test func theDateOfATimerMadeWithoutDatesIsReadFromTheWallClock() {
        withLoop { loop in
            let timer = Timer(after: .seconds(100)) { _ in }
            #expect(abs(timer.fireDate.timeIntervalSinceNow - 100) < 10)
            timer.fireDate = .distantFuture
            #expect(timer.fireDate == .distantFuture)
            loop.add(timer, forMode: .default)
            timer.fireDate = .now
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
    }

    @Test func aTimerNeverFiresBeforeItsDate() {
        withLoop { loop in
            let log = EventLog()
            for microseconds in stride(from: 0, to: 4000, by: 130) {
                let date = Date(timeIntervalSinceNow: Double(microseconds) / 1e6)
                let timer = Timer(fire: date, interval: 0, repeats: false) { _ in
                    if Date() < date { log.note("early") }
                }
                loop.add(timer, forMode: .default)
            }
            loop.run()
            #expect(log.entries == [])
        }
    }

    @Test func aPastDateFiresAtOnceAndTheSeriesCountsFromThen() {
        withLoop { loop in
            let start = loop.now as UVRunLoop.Instant
            let fires = SharedBox(0)
            let timer = Timer(fire: Date() - 10.25, interval: 0.02, repeats: true) { timer in
                fires.value += 1
                if fires.value == 2 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(fires.value == 1 && timer.isValid)
            #expect(timer.nextFireDate >= start + .milliseconds(20))
            loop.run()
            #expect(fires.value == 2 && !timer.isValid)
            #expect(loop.now >= start + .milliseconds(20))
        }
    }

    @Test func aTimerThatDoesNotRepeatHasNoInterval() {
        let timer = Timer(fire: Date(), interval: 0.3, repeats: false) { _ in }
        #expect(timer.timeInterval == 0)
        #expect(Timer(after: .seconds(1)) { _ in }.timeInterval == 0)
    }

    @Test(arguments: [0.3, 1.0 / 3, 0.1, 1e-9, 86_400.5, 1e300])
    func anIntervalIsReadBackExactly(interval: TimeInterval) {
        let timer = Timer(fire: Date(), interval: interval, repeats: true) { _ in }
        #expect(timer.timeInterval == interval)
    }

    @Test(arguments: [0, -0.5, -.infinity, .nan])
    func anIntervalOfZeroOrLessBecomesATenthOfAMillisecond(interval: TimeInterval) {
        let timer = Timer(timeInterval: interval, repeats: true) { _ in }
        #expect(timer.timeInterval == 0.0001)
        #expect(timer.interval == .microseconds(100))
        let dated = Timer(fire: Date(), interval: interval, repeats: true) { _ in }
        #expect(dated.timeInterval == 0.0001)
    }

    @Test func theIntervalOfATimerMadeWithoutDatesIsInSeconds() {
        let timer = Timer(after: .seconds(1), interval: .milliseconds(100)) { _ in }
        #expect(timer.timeInterval == 0.1)
    }

    @Test func toleranceIsInSecondsAndNeverNegative() {
        let timer = Timer(timeInterval: 1, repeats: true) { _ in }
        #expect(timer.tolerance == 0)
        timer.tolerance = 0.1
        #expect(timer.tolerance == 0.1)
        timer.tolerance += 1
        let tolerance = timer.tolerance
        #expect(tolerance == 1.1)
        timer.tolerance = -1
        #expect(timer.tolerance == 0)
    }

    @Test func toleranceIsADurationWhereOneIsMeant() {
        let timer = Timer(timeInterval: 1, repeats: true) { _ in }
        timer.tolerance = .milliseconds(20)
        let tolerance: Duration = timer.tolerance
        #expect(tolerance == .milliseconds(20))
        #expect(timer.tolerance == 0.02)
    }

    @Test func aTimerMadeOnOneThreadServesTheLoopOfAnother() {
        withLoop { loop in
            let log = EventLog()
            onAnotherThread {
                let timer = Timer(timeInterval: 0.001, repeats: false) { _ in
                    log.note(UVRunLoop.current === loop ? "at home" : "elsewhere")
                }
                loop.add(timer, forMode: .common)
            }
            loop.run()
            #expect(log.entries == ["at home"])
        }
    }

    @Test func aScheduledTimerIsInTheDefaultModeOfTheCurrentLoop() {
        withLoop { loop in
            let log = EventLog()
            let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { timer in
                log.note("\(timer.timeInterval)")
                timer.invalidate()
            }
            #expect(loop.contains(timer, forMode: .default))
            #expect(!loop.contains(timer, forMode: .common))
            loop.run()
            #expect(log.entries == ["0.001"])
        }
    }

    @Test func theDistantFuturePausesATimer() {
        withLoop { loop in
            let log = EventLog()
            let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { timer in
                log.note("fired")
                timer.invalidate()
            }
            timer.fireDate = .distantFuture
            loop.run(until: Date(timeIntervalSinceNow: 0.005))
            #expect(log.entries == [])
            timer.fireDate = Date()
            loop.run()
            #expect(log.entries == ["fired"])
        }
    }

    @Test func fireCallsAtOnceAndEndsATimerThatDoesNotRepeat() {
        let log = EventLog()
        let once = Timer(timeInterval: 60, repeats: false) { _ in log.note("once") }
        once.fire()
        once.fire()
        #expect(!once.isValid)
        #expect(once.fireDate == Date(timeIntervalSinceReferenceDate: 0))

        let series = Timer(timeInterval: 60, repeats: true) { _ in log.note("series") }
        let date = series.fireDate
        series.fire()
        series.fire()
        #expect(series.isValid)
        #expect(series.fireDate == date)
        #expect(log.entries == ["once", "series", "series"])
    }

    @Test func anInvalidTimerTakesNoDate() {
        let timer = Timer(timeInterval: 60, repeats: true) { _ in }
        timer.invalidate()
        timer.fireDate = Date() + 60
        #expect(timer.fireDate == Date(timeIntervalSinceReferenceDate: 0))
    }

    @Test func theDateIsReadInsideTheBlockAsTheOneBeingFired() {
        withLoop { loop in
            let log = EventLog()
            let date = Date(timeIntervalSinceNow: 0.002)
            let timer = Timer(fire: date, interval: 60, repeats: true) { timer in
                log.note(timer.fireDate == date ? "its own" : "another")
                UVRunLoop.current.stop()
            }
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(log.entries == ["its own"])
            #expect(timer.fireDate > date + 59)
            #expect(timer.fireDate == timer.fireDate)
        }
    }

    @Test func theDateOfAWallClockThatKnowsNoBoundsIsNever() {
        for seconds in [TimeInterval.infinity, .nan, 1e300] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let timer = Timer(fire: date, interval: .infinity, repeats: true) { _ in }
            #expect(timer.nextFireDate > UVRunLoop.Instant.now + .seconds(1_000_000_000))
        }
        let past = Date(timeIntervalSinceReferenceDate: -.infinity)
        let timer = Timer(fire: past, interval: 1, repeats: false) { _ in }
        #expect(timer.nextFireDate <= .now)
    }
}
