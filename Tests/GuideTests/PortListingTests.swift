import Testing

@testable import Guide

/// Listings 3-12 to 3-15: a main thread and a worker that communicate through ports.
@Suite(.timeLimit(.minutes(15))) struct PortListingTests {
    @Test func aWorkerSendsItsMessagesThroughThePortThatItWasLaunchedWith() throws {
        #expect(
            try lines(of: "3-12") == [
                "worker: I check in",
                "main: a worker has checked in",
                "main: both sides can send",
                "worker: the thread ends",
            ]
        )
    }

    @Test func aCheckInBringsThePortOfTheWorkerWhichIsKept() throws {
        #expect(
            try lines(of: "3-13") == [
                "worker: I check in, and send something else",
                "main: nothing arrives while the loop does not run",
                "main: a worker has checked in",
                "main: message 7 means nothing to me",
                "main: the worker's port was kept: true",
            ]
        )
    }

    @Test func aWorkerProcessesMessagesUntilItShouldExit() throws {
        #expect(
            try lines(of: "3-14") == [
                "worker: I check in",
                "main: a worker has checked in",
                "worker: the sum is 6",
                "main: the answer is 6",
                "worker: the thread ends",
            ]
        )
    }

    @Test func aCheckInHasNoComponentsAndAPortToAnswerAt() throws {
        #expect(
            try lines(of: "3-15") == [
                "worker: I check in",
                "message 100 with 0 components",
                "worker: I was told to exit",
            ]
        )
    }
}
