import Testing

@testable import UVRunLoop

/// Durations as whole nanoseconds.
@Suite(.timeLimit(.minutes(15))) struct DurationTests {
    /// The same by plain division.
    private func expected(_ duration: Duration) -> Int64 {
        let (whole, rest) = duration.attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest > 0 ? whole + 1 : whole)
    }

    @Test func aDurationIsRoundedUpToWholeNanoseconds() {
        var numbers = SeededGenerator(seed: 1)
        for bits in 0..<93 {
            for _ in 0..<100 {
                let attoseconds = Int128.random(in: 0...(1 << Int128(bits)), using: &numbers)
                let duration = Duration(attoseconds: attoseconds)
                #expect(duration.nanosecondsRoundedUp == expected(duration))
            }
        }
    }

    @Test func wholeNanosecondsAreNotRounded() {
        let samples: [Int64] = [0, 1, 999, 1 << 32, (1 << 32) - 1, 1 << 62, .max - 1, .max]
        for nanoseconds in samples {
            let duration = Duration.nanoseconds(nanoseconds)
            #expect(duration.nanosecondsRoundedUp == nanoseconds)
            let longer = duration + Duration(attoseconds: 1)
            #expect(longer.nanosecondsRoundedUp == expected(longer))
        }
    }

    @Test func aDurationThatDoesNotFitIsTheNearestThatDoes() {
        #expect(Duration.seconds(Int64.max).nanosecondsRoundedUp == .max)
        #expect(Duration(attoseconds: (1 << 93) + 1).nanosecondsRoundedUp == .max)
        #expect(Duration(attoseconds: .max).nanosecondsRoundedUp == .max)
        #expect(Duration.seconds(Int64.min).nanosecondsRoundedUp == .min)
    }
}
