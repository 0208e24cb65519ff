import Glibc
import Testing

@testable import UVRunLoop

/// A loop as the executor of actors and of tasks: threads, isolation, and the number of jobs.
@Suite(.timeLimit(.minutes(15))) struct ExecutorTests {
    // MARK: The thread

    @Test func actorOnALoopRunsOnTheLoopsThread() async throws {
        try await UVRunLoop.withThread { loop in
            let actor = Pinned(loop)
            for _ in 0..<100 {
                let isThere = await actor.isolated { _ in loop.isOnOwnThread }
                #expect(isThere)
            }
        }
    }

    @Test func taskThatPrefersALoopRunsOnItsThreadAndComesBackThere() async throws {
        try await UVRunLoop.withThread { loop in
            let task = Task(executorPreference: loop.taskExecutor) {
                var places = [loop.isOnOwnThread]
                try await Task.sleep(for: .milliseconds(1))
                places.append(loop.isOnOwnThread)
                await Task.detached {}.value
                places.append(loop.isOnOwnThread)
                await Task.yield()
                places.append(loop.isOnOwnThread)
                await MainActorStandIn.shared.call()
                places.append(loop.isOnOwnThread)
                return places
            }
            let places = try await task.value
            #expect(places == [true, true, true, true, true])
        }
    }

    @Test func taskGroupsAndChildTasksInheritThePreference() async throws {
        try await UVRunLoop.withThread { loop in
            let task = Task(executorPreference: loop.taskExecutor) {
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<50 { group.addTask { loop.isOnOwnThread } }
                    async let child = loop.isOnOwnThread
                    let others = await group.reduce(true) { $0 && $1 }
                    return await child && others
                }
            }
            #expect(await task.value)
        }
    }

    @Test func taskExecutorIsAlwaysTheSameObjectAndDoesNotKeepTheLoop() {
        weak var loopThatWas: UVRunLoop?
        var executor: (any TaskExecutor)?
        withLoop(.manual) { loop, _ in
            loopThatWas = loop
            executor = loop.taskExecutor
            let again = loop.taskExecutor
            #expect(executor === again)
        }
        #expect(executor != nil)
        #expect(loopThatWas == nil)
    }

    // MARK: Isolation

    @Test(arguments: DriverKind.allCases)
    func handlersOfTheLoopAreIsolatedToItsActors(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let actor = Pinned(loop)
            loop.perform { actor.assumeIsolated { log.note("block \($0.add())") } }
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                actor.assumeIsolated { log.note("timer \($0.add())") }
            }
            loop.add(timer, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .entry) { _, _ in
                actor.preconditionIsolated()
                actor.assumeIsolated { log.note("observer \($0.add())") }
            }
            loop.add(observer, forMode: .default)
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["observer 0", "block 1", "timer 2"])
        }
    }

    @Test func isolationIsToldWithoutATrap() {
        withLoop(.manual) { loop, log in
            #expect(loop.isIsolatingCurrentContext() == true)
            onAnotherThread { log.note("\(loop.isIsolatingCurrentContext() ?? true)") }
            #expect(log.entries == ["false"])
        }
    }

    @Test func otherThreadsAreNotIsolated() async {
        await #expect(processExitsWith: .failure) {
            withLoop(.manual) { loop, _ in
                let actor = Pinned(loop)
                onAnotherThread { actor.preconditionIsolated() }
            }
        }
        await #expect(processExitsWith: .failure) {
            withLoop(.manual) { loop, _ in onAnotherThread { loop.checkIsolated() } }
        }
    }

    /// Isolation does not exclude what a nested run does in the middle of a job.
    @Test func handlerOfARunNestedInAJobIsIsolatedToTheActorOfTheJob() throws {
        try runTask { loop in
            let actor = Pinned(loop)
            await actor.whileIsolated { actor in
                actor.add()
                loop.perform { actor.assumeIsolated { _ = $0.add() } }
                #expect(actor.count == 1)
                runNested(loop)
                #expect(actor.count == 2)
            }
        }
    }

    // MARK: How many jobs

    @Test func callsBetweenActorsOfALoopAreOneJob() {
        withLoop(.manual) { loop, log in
            let (caller, other) = (Pinned(loop), Pinned(loop))
            let jobs = JobCount(of: loop)
            loop.start(on: caller) { caller in
                for _ in 0..<1_000 { await other.add() }
                log.note("in its first job: \(jobs.value == 0)")
            }
            loop.run()
            #expect(jobs.end() == 1)
            #expect(log.entries == ["in its first job: true"])
        }
    }

    @Test func callsBetweenActorsInATaskThatPrefersTheLoopAreAtMostTwoJobs() throws {
        try runTask { loop in
            let (caller, other) = (Pinned(loop), Pinned(loop))
            let jobs = JobCount(of: loop)
            await caller.isolated { _ in
                for _ in 0..<1_000 { await other.add() }
            }
            // One to reach the actor, one to leave it, and the guess that saves the others.
            #expect(jobs.end() <= 3)
        }
    }

    @Test func nonisolatedCallsInATaskThatPrefersTheLoopAreNoJobs() throws {
        try runTask { loop in
            let jobs = JobCount(of: loop)
            for _ in 0..<1_000 { await doNothing() }
            #expect(jobs.end() == 0)
        }
    }

    @Test func callsToAnActorFromATaskThatPrefersTheLoopTakeTwoJobsEach() throws {
        try runTask { loop in
            let actor = Pinned(loop)
            let jobs = JobCount(of: loop)
            for _ in 0..<1_000 { await actor.add() }
            #expect((1...2_000).contains(jobs.end()))
        }
    }

    // MARK: Programs with tasks

    @Test func actorKeepsItsStateUnderCallsFromEverywhere() async throws {
        try await UVRunLoop.withThread { loop in
            let actor = Pinned(loop)
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { for _ in 0..<1_000 { await actor.add() } }
                }
            }
            #expect(await actor.count == 8_000)
        }
    }

    @Test func asyncStreamsWorkUnchanged() async throws {
        try await UVRunLoop.withThread { loop in
            let actor = Pinned(loop)
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            loop.perform { for number in 0..<100 { continuation.yield(number) } }
            loop.perform { continuation.finish() }
            let sum = await actor.isolated { _ in
                var sum = 0
                for await number in stream { sum += number }
                return sum
            }
            #expect(sum == 4_950)
        }
    }

    @Test func prioritiesReachTheTaskAndDoNotReorder() {
        withLoop(.manual) { loop, log in
            for (name, priority) in [("low", TaskPriority.low), ("high", .high)] {
                Task(executorPreference: loop.taskExecutor, priority: priority) {
                    log.note("\(name) \(Task.currentPriority == priority)")
                }
            }
            loop.run()
            #expect(log.entries == ["low true", "high true"])
        }
    }
}

private func doNothing() async {}

/// Runs the loop in a job, where a direct call does not compile.
private func runNested(_ loop: UVRunLoop) { loop.run(for: .zero) }

/// An actor that is not on the loop.
private actor MainActorStandIn {
    static let shared = MainActorStandIn()

    func call() {}
}

extension UVRunLoop {
    /// Has an actor of the loop do something, in a task that has no preference.
    fileprivate func start(
        on actor: Pinned,
        _ body: @escaping @Sendable (isolated Pinned) async -> Void
    ) {
        _ = Task.immediate { await actor.isolated(body) }
    }
}
