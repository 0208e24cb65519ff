import FoundationEssentials
import TestSupport
import Testing
import UVRunLoopFoundation

/// Timers with a target and an action, and their user info.
@Suite(.timeLimit(.minutes(15))) struct TimerTargetTests {
    typealias Timer = UVRunLoop.Timer

    private final class Ticker {
        let log: EventLog

        init(_ log: EventLog) { self.log = log }

        func tick(_ timer: Timer) {
            log.note("tick \(timer.userInfo as? String ?? "without info")")
            timer.invalidate()
        }

        deinit { log.note("gone") }
    }

    private final class Ender {
        let log: EventLog

        init(_ log: EventLog) { self.log = log }

        func end(_ timer: Timer) {
            log.note(timer.userInfo as? String ?? "nothing")
            timer.invalidate()
            log.note(timer.userInfo as? String ?? "nothing")
        }
    }

    @Test func theTargetIsCalledWithTheTimerAndWhatItCarries() {
        withLoop { loop in
            let log = EventLog()
            let ticker = Ticker(log)
            let timer = Timer(
                timeInterval: 0.001,
                target: ticker,
                selector: Ticker.tick,
                userInfo: "from an interval",
                repeats: true
            )
            loop.add(timer, forMode: .default)
            loop.run()
            let dated = Timer(
                fireAt: Date(),
                interval: 1,
                target: ticker,
                selector: Ticker.tick,
                userInfo: nil,
                repeats: true
            )
            #expect(dated.timeInterval == 1)
            loop.add(dated, forMode: .default)
            loop.run()
            Timer.scheduledTimer(
                timeInterval: 0,
                target: ticker,
                selector: Ticker.tick,
                userInfo: "scheduled",
                repeats: false
            )
            loop.run()
            #expect(
                log.entries == ["tick from an interval", "tick without info", "tick scheduled"]
            )
            withExtendedLifetime(ticker) {}
        }
    }

    @Test func aTimerKeepsItsTargetAndWhatItCarriesUntilItIsInvalid() {
        let log = EventLog()
        let timer = Timer(
            timeInterval: 60,
            target: Ticker(log),
            selector: Ticker.tick,
            userInfo: Ticker(log),
            repeats: true
        )
        #expect(timer.userInfo is Ticker)
        #expect(log.entries == [])
        timer.invalidate()
        #expect(log.entries == ["gone", "gone"])
        #expect(timer.userInfo == nil)
    }

    @Test func aTimerThatItsTargetInvalidatesCarriesNothingFromThenOn() {
        withLoop { loop in
            let log = EventLog()
            let timer = Timer(
                timeInterval: 0.001,
                target: Ender(log),
                selector: Ender.end,
                userInfo: "info",
                repeats: true
            )
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(log.entries == ["info", "nothing"])
        }
    }

    @Test func aTimerWithABlockCarriesNothing() {
        let timer = Timer(timeInterval: 60, repeats: true) { _ in }
        #expect(timer.userInfo == nil)
        #expect(Timer(after: .seconds(1)) { _ in }.userInfo == nil)
    }

    @Test func whatItCarriesStaysOnItsThread() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { readUserInfoElsewhere() }
        #expect(says("userInfo is not Sendable", result?.standardErrorContent))
    }
}

private final class Idle {
    func tick(_ timer: UVRunLoop.Timer) {}
}

private func readUserInfoElsewhere() {
    let timer = UVRunLoop.Timer(
        timeInterval: 60,
        target: Idle(),
        selector: Idle.tick,
        userInfo: "mine",
        repeats: true
    )
    onAnotherThread { _ = timer.userInfo }
}
