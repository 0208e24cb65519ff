import TestSupport
import Testing

@testable import UVRunLoop

/// What may be read of a timer without waiting for its loop's lock.
@Suite(.timeLimit(.minutes(15))) struct TimerReadingTests {
    @Test func theLockIsNotNeededToReadATimer() {
        withLoop { loop in
            let timer = UVRunLoop.Timer(
                at: loop.now + .seconds(60),
                interval: .seconds(2),
                tolerance: .seconds(1),
                sendableHandler: { _ in }
            )
            loop.add(timer, forMode: .default)
            let date = timer.nextFireDate
            // A reader that needed the lock would wait for ever.
            loop.withEngine { _ in
                startThread {
                    #expect(timer.nextFireDate == date)
                    #expect(timer.interval == .seconds(2))
                    #expect(timer.tolerance == .seconds(1))
                    #expect(timer.missedFires == 0)
                    #expect(timer.isValid)
                }.join()
            }
            timer.invalidate()
        }
    }
}
