import Glibc
import Testing

@testable import UVRunLoop

/// Jobs of loops that have ended: none is lost, and they run one at a time, elsewhere.
@Suite(.timeLimit(.minutes(15))) struct LateJobTests {
    @Test func actorOfAnEndedLoopGoesOnOnTheLateJobsThread() async throws {
        let actor = try await UVRunLoop.withThread { Pinned($0) }
        for number in 0..<1_000 {
            #expect(await actor.add() == number)
        }
        let name = await actor.isolated { actor in
            actor.assertIsolated()
            return threadName()
        }
        #expect(name == "late-jobs")
    }

    @Test func taskThatPrefersAnEndedLoopGoesOn() async throws {
        let executor = try await UVRunLoop.withThread { $0.taskExecutor }
        let task = Task(executorPreference: executor) {
            await Task.yield()
            return threadName()
        }
        #expect(await task.value == "late-jobs")
    }

    @Test func jobsThatWaitWhenTheLoopEndsAtOnceArePerformedLate() async throws {
        let thread = try startLoopThread()
        let actor = Pinned(thread.runLoop)
        // Holds the loop up while jobs are queued.
        let (isQueued, isBusy) = (Signal(), Signal())
        thread.runLoop.perform {
            isBusy.send()
            isQueued.wait()
        }
        isBusy.waitInTask()
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<1_000 {
                group.addTask { await actor.add() }
            }
            thread.stop(afterQueuedWork: false)
            isQueued.send()
            return await group.reduce(0) { count, _ in count + 1 }
        }
        #expect(count == 1_000)
        #expect(await actor.count == 1_000)
        thread.joinInTask()
    }

    @Test func jobsThatHaveNotBegunAtTheLimitOfAStopArePerformedLate() throws {
        let thread = try startLoopThread()
        let (isBusy, goOn, isPerformed) = (Signal(), Signal(), Signal())
        let log = EventLog()
        thread.runLoop.perform {
            isBusy.send()
            goOn.wait()
        }
        isBusy.wait()
        for _ in 0..<3 {
            thread.runLoop.queueJob {
                log.note(threadName())
                isPerformed.send()
            }
        }
        thread.stop(limit: .milliseconds(1))
        usleep(2_000)
        goOn.send()
        thread.join()
        isPerformed.wait(times: 3)
        #expect(log.entries == Array(repeating: "late-jobs", count: 3))
    }

    @Test func endsUnderFireLoseNoJob() async throws {
        for _ in 0..<50 {
            let thread = try startLoopThread()
            let actor = Pinned(thread.runLoop)
            await withTaskGroup { group in
                for task in 0..<4 {
                    group.addTask {
                        for call in 0..<20 {
                            await actor.add()
                            if task == 0, call == 5 { thread.stop() }
                        }
                    }
                }
            }
            #expect(await actor.count == 80)
            thread.joinInTask()
        }
    }

    @Test func isolatedDeinitWorksBeforeAndAfterTheEndOfTheLoop() async throws {
        let log = EventLog()
        let loop = try await UVRunLoop.withThread { loop in
            _ = Dying(loop, log, "before")
            return loop
        }
        _ = Dying(loop, log, "after")
        // Behind the jobs of the two.
        await Pinned(loop).add()
        #expect(log.entries == ["before", "after"])
    }

    @Test func nothingOfTheDyingThreadRunsAtTheSameTimeAsALateJob() async throws {
        let overlaps = SharedBox(0)
        for _ in 0..<50 {
            let thread = try startLoopThread()
            let (loop, isInside) = (thread.runLoop, SharedBox(false))
            let enter: @Sendable () -> Void = {
                if isInside.value { overlaps.value += 1 }
                isInside.value = true
                for _ in 0..<10 { sched_yield() }
                isInside.value = false
            }
            // Called at the end of the thread.
            let source = UVRunLoop.Source(
                cancel: { _, _ in enter() },
                sendablePerform: { _ in }
            )
            loop.add(source, forMode: .default)
            let actor = Pinned(loop)
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<10 { await actor.whileIsolated { _ in enter() } }
                    }
                }
                thread.stop()
            }
            thread.joinInTask()
        }
        #expect(overlaps.value == 0)
    }
}

/// An actor that is notified when it is released, in its own isolation.
private actor Dying {
    private let loop: UVRunLoop
    private let log: EventLog
    private let name: String

    init(_ loop: UVRunLoop, _ log: EventLog, _ name: String) {
        (self.loop, self.log, self.name) = (loop, log, name)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    isolated deinit {
        assertIsolated()
        log.note(name)
    }
}

private func threadName() -> String {
    guard let file = fopen("/proc/thread-self/comm", "r") else { return "" }
    defer { fclose(file) }
    var name = [UInt8](repeating: 0, count: 32)
    let count = fread(&name, 1, name.count, file)
    return String(decoding: name.prefix(max(count - 1, 0)), as: UTF8.self)
}
