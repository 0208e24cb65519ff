import Testing

/// The main dispatch queue as a source of the main loop.
///
/// Tests do not run on the main thread, and their process has used Dispatch: every story here is
/// told by a small program in a process of its own.
@Suite(.timeLimit(.minutes(15))) struct MainQueueTests {
    // MARK: Served as a source

    @Test func mainQueueKeepsTheCommonModesOfTheMainLoop() throws {
        // The default mode twice, a mode of no concern, and the same once it is a common one.
        let story = try story("empty", by: .dispatch)
        #expect(story == ["timedOut", "timedOut", "finished", "timedOut"])
    }

    /// Without a descriptor, libdispatch would end the process.
    @Test func mainQueueIsServedWhenThereIsADescriptorForIt() throws {
        #expect(try story("full", by: .dispatch) == ["timedOut", "block", "stopped"])
    }

    /// The first block makes a nested run, for which there is nothing.
    @Test func mainQueueIsServedAlsoWhereTheKernelDoesNotWatchIt() throws {
        let story = try story("refused", by: .dispatch)
        #expect(story == ["first", "finished", "timedOut", "second", "third", "stopped"])
    }

    @Test func blocksOfTheMainQueueRunInBatches() throws {
        // Third is queued by first.
        let story = try story("batch", by: .dispatch)
        #expect(story == ["pass", "first", "second", "pass", "third"])
    }

    @Test func mainQueueWaitsWhileAnotherModeRuns() throws {
        #expect(try story("modes", by: .dispatch) == ["timedOut", "block", "timedOut"])
    }

    @Test func mainQueueIsAHandledSource() throws {
        let story = try story("results", by: .dispatch)
        #expect(story == ["block", "handledSource", "stop", "stopped"])
    }

    @Test func staleWakeOfTheMainQueueDoesNotEndALaterRun() throws {
        let served = ["block", "handledSource"]
        #expect(try story("stale", by: .dispatch) == served + served + ["timedOut"])
    }

    @Test func nestedRunInAMainQueueBlockDoesNotEnterTheQueueAgain() throws {
        // Inside, the queue does not keep the mode from being empty either.
        let story = try story("nested", by: .dispatch)
        #expect(
            story == [
                "outer", "finished", "finished", "timer", "finished", "outer ends", "inner",
            ]
        )
    }

    // MARK: Other threads

    @Test func blockFromAWorkerWakesTheMainLoop() throws {
        #expect(try story("wake", by: .dispatch) == ["woken"])
    }

    @Test func chainThroughMainQueueAndLoopKeepsItsOrder() throws {
        #expect(try story("chain", by: .dispatch) == (1...10).map(String.init))
    }

    @Test func noBlockOfManyThreadsIsLostOrOutOfOrder() throws {
        #expect(try story("many", by: .dispatch) == ["[5000, 5000, 5000, 5000]"])
    }

    // MARK: Tasks

    @Test func tasksOfTheMainActorRunOnTheMainThreadUnderTheMainLoop() throws {
        let story = try story("tasks", by: .tasks)
        #expect(story == ["begins", "1 true", "2 true", "3 true", "stopped"])
    }

    @Test func mainLoopWaitsForTasksThatHaveYetToReachTheMainActor() throws {
        #expect(try story("started", by: .tasks) == ["main actor", "stopped"])
    }

    @Test func firstTaskOfAllFromAWorkersLoopWakesTheMainLoop() throws {
        #expect(try story("worker", by: .tasks) == ["main actor", "stopped"])
    }

    @Test func firstTaskOfAllFromAThreadWithoutALoopWakesTheMainLoop() throws {
        #expect(try story("thread", by: .tasks) == ["main actor", "stopped"])
    }

    @Test func firstTaskOfAllIsServedWhileTheHandlerThatMadeItStillRuns() throws {
        #expect(try story("waiter", by: .tasks) == ["done: true"])
    }

    // MARK: Without Dispatch, and after a fork

    @Test func mainLoopOfAProgramWithoutDispatchFinishesAndOpensNothing() throws {
        #expect(try story("unused", by: .tasks) == ["block", "finished", "eventfds: 1"])
    }

    @Test func mainLoopOfAForkedChildLeavesTheParentsMainQueueAlone() throws {
        let story = try story("fork", by: .dispatch)
        #expect(
            story == ["parent", "child", "finished", "child ended with 0", "parent again"]
        )
    }

    @Test func childOfAParentThatUsedNothingServesItsMainQueue() throws {
        #expect(try story("daemon", by: .dispatch) == ["child ended with 7"])
    }
}
