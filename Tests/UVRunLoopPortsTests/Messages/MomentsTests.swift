import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Durations as times of the monotonic clock.
@Suite(.timeLimit(.minutes(15))) struct MomentsTests {
    @Test func aLimitIsCountedFromNowAndNeverCutShort() {
        let before = monotonicNow()
        // Any fraction of a nanosecond is rounded up.
        let date = (Duration.seconds(5) + Duration(secondsComponent: 0, attosecondsComponent: 1))
            .fromNow
        #expect(date >= before + 5_000_000_001)
        #expect(date <= monotonicNow() + 5_000_000_001)
    }

    @Test(arguments: [Duration.zero, .nanoseconds(-1), .seconds(-5), .seconds(Int64.min)])
    func aLimitThatIsPastIsNow(limit: Duration) {
        let before = monotonicNow()
        let date = limit.fromNow
        #expect(before <= date)
        #expect(date <= monotonicNow())
    }

    @Test(arguments: [
        Duration.seconds(Int64.max), .nanoseconds(Int64.max), .seconds(9_300_000_000),
    ])
    func aLimitThatIsTooLongIsNever(limit: Duration) {
        #expect(limit.fromNow == .max)
    }
}
