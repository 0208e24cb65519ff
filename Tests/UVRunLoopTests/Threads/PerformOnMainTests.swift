import Testing

/// Requests made of the main thread's loop.
///
/// Tests do not run on the main thread, so every story here is told by a small program in a
/// process of its own.
@Suite(.timeLimit(.minutes(15))) struct PerformOnMainTests {
    @Test func requestsOfAnotherThreadArePerformedByTheMainLoopInOrder() throws {
        let story = try story("requests", by: .tasks)
        #expect(
            story == [
                "1 true", "2 true", "3 true", "waited for 4", "threw Failure()",
                "true true false", "stopped",
            ]
        )
    }

    @Test func onTheMainThreadAWaitIsNoneAndARequestWaitsForTheLoop() throws {
        #expect(try story("own", by: .tasks) == ["at once", "0", "1", "stopped"])
    }

    @Test func aWaitForTheMainThreadEndsWhenTheRequestIsCancelled() throws {
        #expect(try story("cancelled", by: .tasks) == ["the request was cancelled"])
    }
}
