import Testing

/// Asynchronous main functions, and asynchronous functions of synchronous ones.
///
/// Tests do not run on the main thread: every story is told by a program in a process of its own.
@Suite(.timeLimit(.minutes(15))) struct MainFunctionTests {
    // MARK: An asynchronous main function

    @Test func mainLoopIsServedWhileTheMainFunctionWaits() throws {
        #expect(
            try story("serves", by: .asyncMain) == [
                "timer true", "block true", "slept true", "slept again true", "ends true",
            ]
        )
    }

    @Test func actorsOnTheMainLoopAndTheMainActorGoOn() throws {
        #expect(
            try story("actors", by: .asyncMain) == [
                "3 true", "performs true", "main actor true", "ends true",
            ]
        )
    }

    @Test func stopEndsARunAndNotTheProgram() throws {
        #expect(try story("stop", by: .asyncMain) == ["runs on", "ends true"])
    }

    @Test func emptyMainLoopWaitsForTasks() throws {
        #expect(try story("empty", by: .asyncMain) == ["detached", "ends true"])
    }

    @Test func errorAndMisuseEndTheProgram() throws {
        #expect(throws: (any Error).self) { try story("throws", by: .asyncMain) }
        #expect(throws: (any Error).self) { try story("late", by: .asyncMain) }
    }

    // MARK: A synchronous main function

    @Test func runMainReturnsTheValueOfItsFunction() throws {
        #expect(try story("function", by: .tasks) == ["42"])
    }

    @Test func runMainThrowsTheErrorOfItsFunction() throws {
        #expect(try story("throwing", by: .tasks) == ["threw Failure()"])
    }

    @Test func runMainMayBeCalledAgainAndInAHandler() throws {
        #expect(try story("functions", by: .tasks) == ["1", "2", "3", "nested"])
    }

    @Test func runMainTrapsWhereTheMainActorCouldNotGoOn() throws {
        #expect(throws: (any Error).self) { try story("job", by: .tasks) }
    }
}
