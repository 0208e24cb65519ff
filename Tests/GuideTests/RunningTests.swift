import Testing
import UVRunLoop

@testable import Guide

/// Listings 3-1 and 3-2: configuring and starting a run loop.
@Suite(.timeLimit(.minutes(15))) struct RunningTests {
    @Test func anObserverIsToldOfEveryActivityFromTheEntranceToTheExit() throws {
        let runs = try lines {
            createAnObserver($0, interval: .milliseconds(5), limit: .milliseconds(20))
        }
        #expect(runs.count == 10)
        for run in runs {
            let words = run.split(separator: " ")
            #expect(words.starts(with: ["entry", "timers", "sources", "sleep", "wake"]))
            #expect(words.suffix(2) == ["exit", "(timedOut)"])
            #expect(words.count { $0 == "entry" || $0 == "exit" } == 2)
        }
    }

    /// In virtual time, in which nothing is late: ten dates in each of ten seconds.
    @Test func everyRunOfTheListingIsToldAsTheGuideHasIt() {
        let runs = linesInVirtualTime {
            createAnObserver($0, interval: .milliseconds(100), limit: .seconds(1))
        }
        let pass = "timers sources sleep wake timer "
        let run = "entry " + String(repeating: pass, count: 10) + "exit (timedOut)"
        #expect(runs == Array(repeating: run, count: 10))
    }

    @Test func theObserverIsToldInTheOrderOfTheGuide() throws {
        let runs = try lines {
            createAnObserver($0, interval: .milliseconds(5), limit: .milliseconds(20))
        }
        let followers = [
            "entry": ["timers"],
            "timers": ["sources"],
            "sources": ["sleep"],
            "sleep": ["wake"],
            "wake": ["timer", "timers", "exit"],
            "timer": ["timers", "exit"],
            "exit": ["(timedOut)"],
        ]
        for run in runs {
            let words = run.split(separator: " ").map(String.init)
            for (word, next) in zip(words, words.dropFirst()) {
                #expect(followers[word]?.contains(next) == true, "\(word) before \(next)")
            }
        }
    }

    /// The first sleep of a run is at most the timer's interval, which is the shorter limit.
    @Test func tenRunsLetTheTimerFire() throws {
        let runs = try lines {
            createAnObserver($0, interval: .milliseconds(5), limit: .milliseconds(20))
        }
        #expect(runs.count { $0.hasPrefix("entry timers sources sleep wake timer ") } == 10)
    }

    @Test func aRunReturnsAfterEachSourceThatIsHandledAndTellsWhyItEnded() throws {
        let story = try lines(of: "3-2")
        #expect(
            story.dropLast(2) == [
                "the source was handled, jobs left: 2",
                "the run ended: handledSource",
                "the source was handled, jobs left: 1",
                "the run ended: handledSource",
                "the source was handled, jobs left: 0",
                "the run ended: stopped",
                "the thread cleans up",
            ]
        )
    }

    @Test func aLoopWithoutSourcesEndsItsRunAtOnce() throws {
        #expect(
            try lines(of: "3-2").suffix(2) == ["the run ended: finished", "the thread cleans up"]
        )
    }
}
