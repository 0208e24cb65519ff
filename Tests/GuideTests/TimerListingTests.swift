import Testing
import UVRunLoop

@testable import Guide

/// Listings 3-10 and 3-11: timers.
@Suite(.timeLimit(.minutes(15))) struct TimerListingTests {
    /// The dates on which one of the timers fires, in tenths of a second.
    private func dates(of name: String, in story: [String]) -> [Int] {
        story.compactMap { line in
            let words = line.split(separator: " ")
            return words.first.map(String.init) == name ? words.last.flatMap { Int($0) } : nil
        }
    }

    @Test func theFirstTimerBeginsAfterASecondAndFiresEveryTenthOfOne() {
        let story = linesInVirtualTime { scheduleTwoTimers($0) }
        #expect(dates(of: "first", in: story) == [10, 11, 12, 13, 14])
    }

    @Test func theSecondTimerBeginsAfterAFifthOfASecondAndFiresEveryFifth() {
        let story = linesInVirtualTime { scheduleTwoTimers($0) }
        #expect(dates(of: "second", in: story) == [2, 4, 6, 8, 10, 12, 14])
    }

    /// In real time missed dates are skipped, so some may be absent; and a run that wakes late
    /// fires everything that is due before it ends.
    @Test func neitherTimerLeavesItsDatesOrIsEarly() throws {
        let story = try lines { scheduleTwoTimers($0, tenth: .milliseconds(10)) }
        #expect(!story.contains { $0.hasSuffix("(early)") })
        for (name, all) in [("first", Array(10...999)), ("second", (1...499).map { $0 * 2 })] {
            let dates = dates(of: name, in: story)
            #expect(dates.first == all.first)
            #expect(dates == all.filter { dates.contains($0) })
        }
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
