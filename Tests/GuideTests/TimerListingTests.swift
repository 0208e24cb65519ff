import Testing
import UVRunLoop

@testable import Guide

/// Listings 3-10 and 3-11: timers.
@Suite(.timeLimit(.minutes(15))) struct TimerListingTests {
    /// The dates on which one of the timers fires, in tenths of a second.
    private func dates(of name: String) throws -> [Int] {
        let story = try lines { scheduleTwoTimers($0, tenth: .milliseconds(10)) }
        #expect(!story.contains { $0.hasSuffix("(early)") })
        return story.compactMap { line in
            let words = line.split(separator: " ")
            return words.first.map(String.init) == name ? words.last.flatMap { Int($0) } : nil
        }
    }

    /// Dates that nobody was in time for are left out, so not all may be there.
    @Test func theFirstTimerBeginsAfterASecondAndFiresEveryTenthOfOne() throws {
        let dates = try dates(of: "first")
        #expect(dates.first == 10)
        #expect(dates == dates.sorted())
        #expect(Set(dates).count == dates.count)
    }

    @Test func theSecondTimerBeginsAfterAFifthOfASecondAndFiresEveryFifth() throws {
        let dates = try dates(of: "second")
        #expect(dates.first == 2)
        #expect(dates == dates.sorted())
        #expect(Set(dates).count == dates.count)
        #expect(dates.allSatisfy { $0.isMultiple(of: 2) })
    }

    @Test func aTimerOfTheCommonModesFiresInEachOfThem() throws {
        let story = try lines {
            scheduleACommonTimer($0, delay: .milliseconds(5), interval: .milliseconds(15))
        }
        #expect(
            story == [
                "the timer fires in \(UVRunLoop.Mode.default)",
                "\(UVRunLoop.Mode.eventTracking) is no common mode: finished",
                "the timer fires in \(UVRunLoop.Mode.eventTracking)",
            ]
        )
    }
}
