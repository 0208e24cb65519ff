import Testing

@testable import Guide

/// Listings 3-16 to 3-19: a main thread and a worker that know each other's ports by name.
@Suite(.timeLimit(.minutes(15))) struct MessagePortListingTests {
    @Test func aPortThatIsRegisteredIsFoundByItsNameWhichIsUnique() throws {
        #expect(
            try lines(of: "3-16") == [
                "message 101: hello",
                "within a process a name means one port: true",
                "without a port to the name: noSuchPort",
            ]
        )
    }

    @Test func aWorkerNeedsTheNameOfThePortToMakeTheConnection() throws {
        #expect(
            try lines(of: "3-17") == [
                "main: the port is installed",
                "worker: I check in",
                "main: a worker has checked in",
                "main: the worker is gone",
            ]
        )
    }

    @Test func aCheckInGivesTheNameUnderWhichThePortOfTheWorkerIsObtained() throws {
        #expect(
            try lines(of: "3-18") == [
                "main: message 7 means nothing to me",
                "main: a worker has checked in",
                "main: a worker has checked in",
                "main: the worker has no port: noSuchPort",
                "main: the worker's port was kept: true",
            ]
        )
    }

    @Test func aWorkerThatHasCheckedInHandlesTheEventsThatAreSentToItsPort() throws {
        #expect(
            try lines(of: "3-19") == [
                "main: the port is installed",
                "worker: I check in",
                "main: a worker has checked in",
                "worker: message 101",
                "main: the reply is desserts",
            ]
        )
    }
}
