import Testing
import UVRunLoop

@testable import Guide

/// Listings 3-3 to 3-9: a custom input source, from its definition to its end.
@Suite(.timeLimit(.minutes(15))) struct CustomSourceTests {
    @Test func otherThreadsLeaveCommandsInTheBufferOfTheSource() throws {
        #expect(try lines(of: "3-3") == ["2 commands wait"])
    }

    @Test func aSourceRegistersWithItsClientWhenItJoinsALoopAndDoesNotWait() throws {
        #expect(
            try lines(of: "3-4") == [
                "the source joins a loop",
                "the worker goes on",
                "the client registers the source",
                "the source leaves its loop",
                "the client removes the source",
            ]
        )
    }

    @Test func aSourceThatWasSignalledProcessesTheCommandsInItsBufferOnce() throws {
        #expect(
            try lines(of: "3-5") == [
                "the source joins a loop",
                "another thread leaves two commands",
                "the client registers the source",
                "the source fires",
                "command: one",
                "command: two",
                "the source leaves its loop",
                "the client removes the source",
            ]
        )
    }

    @Test func aSourceThatIsInvalidatedWaitsUntilItsClientHasLetItGo() throws {
        #expect(
            try lines(of: "3-6") == [
                "the source joins a loop",
                "the client registers the source",
                "the source leaves its loop",
                "the client removes the source",
                "the worker goes on",
            ]
        )
    }

    @Test func aThreadCanRunItsLoopOnceTheSourceIsInstalled() throws {
        let story = try lines(of: "3-7")
        // The client registers the source at some point during this.
        #expect(
            story.filter { $0 != "the client registers the source" } == [
                "without a source: finished",
                "the source joins a loop",
                "with a source: timedOut",
                "the source leaves its loop",
                "the client removes the source",
            ]
        )
        #expect(story.count == 6)
    }

    @Test func aClientAddsSourcesToItsListAndRemovesTheOneThatIsMeant() throws {
        #expect(
            try lines(of: "3-8") == [
                "the client registers the source",
                "the client registers the source",
                "2 sources are known",
                "the client removes the source",
                "1 source is known, the other one: true",
                "the client removes the source",
                "1 source is known",
            ]
        )
    }

    @Test func aSignalAndAWakeUpHaveASleepingLoopProcessItsSource() throws {
        #expect(
            try lines(of: "3-9") == [
                "the source joins a loop",
                "the client registers the source",
                "the worker sleeps",
                "the source fires",
                "command: good morning",
                "the source leaves its loop",
                "the client removes the source",
            ]
        )
    }
}
