import TestSupport
import Testing

@testable import UVRunLoop

/// The value read from an instant's memory is the result of the standard library's own call.
@Suite(.timeLimit(.minutes(15))) struct InstantLayoutTests {
    @Test func theTimeSinceTheEpochIsThatOfTheStandardLibrary() {
        let epoch = SuspendingClock().systemEpoch
        let nanosecond = Duration.nanoseconds(1)
        let marks: [Duration] = [
            .zero, nanosecond, .zero - nanosecond, .seconds(1), .seconds(-1),
            .nanoseconds(Int64.max), .nanoseconds(Int64.min), .seconds(Int64.max / 2),
            .seconds(Int64.min / 2), Duration(secondsComponent: 18, attosecondsComponent: 1),
        ]
        for mark in marks {
            let instant = epoch.advanced(by: mark)
            #expect(InstantLayout.sinceEpoch(instant) == epoch.duration(to: instant))
        }
    }

    @Test func itIsForInstantsOfAnySize() {
        var generator = SeededGenerator(seed: 7)
        let epoch = SuspendingClock().systemEpoch
        for _ in 0..<1000 {
            let since = Duration(
                secondsComponent: .random(in: -(1 << 62)..<1 << 62, using: &generator),
                attosecondsComponent: .random(in: 0..<1_000_000_000_000_000_000, using: &generator)
            )
            #expect(InstantLayout.sinceEpoch(epoch.advanced(by: since)) == since)
        }
    }

    @Test func theClockItselfIsReadAlike() {
        let now = SuspendingClock.now
        #expect(InstantLayout.sinceEpoch(now) == SuspendingClock().systemEpoch.duration(to: now))
        #expect(InstantLayout.sinceEpoch(now) > .zero)
    }
}
