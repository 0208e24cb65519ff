import Glibc
import Testing

@testable import UVRunLoop

/// Jobs of actors and tasks: where a pass performs them, in which modes, and in which order.
@Suite(.timeLimit(.minutes(15))) struct JobTests {
    // MARK: Where and in which order

    @Test(arguments: DriverKind.allCases)
    func jobsComeAfterTheBlocksOfTheirPoint(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            loop.queueJob { log.note("job 1") }
            loop.perform { log.note("block 1") }
            loop.queueJob { log.note("job 2") }
            loop.perform { log.note("block 2") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "block 1", "block 2", "job 1",
                    "job 2", "beforeWaiting", "afterWaiting", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func jobsArePerformedAsSoonAsAHandlerHasMadeTheModeCommon(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode("a mode that becomes common")
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                loop.addCommonMode(mode)
                log.note("common")
            }
            loop.add(timer, forMode: mode)
            loop.queueJob { log.note("job") }
            #expect(loop.run(mode: mode, for: .zero) == .timedOut)
            #expect(log.entries == ["common", "job"])
        }
    }

    @Test func aJobFromAnotherThreadWakesTheLoop() throws {
        let thread = try startLoopThread()
        let loop = thread.runLoop
        for _ in 0..<3 {
            while !loop.isWaiting { sched_yield() }
            let isPerformed = Signal()
            onAnotherThread { loop.queueJob { isPerformed.send() } }
            isPerformed.wait()
        }
        thread.stop()
        thread.joinInTask()
    }

    /// The work of another thread between its reservation and its mark is done in two steps here.
    @Test(arguments: DriverKind.allCases)
    func jobsDoNotWaitForOneWhoseSenderIsHeldUp(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let queue = loop.jobs.queue
            loop.queueJob { log.note("first") }
            let local = loop.local.here
            let first = try #require(loop.jobs.takeNext(&local.jobs))
            let slot = try #require(queue.reserve())
            loop.queueJob { log.note("second") }
            loop.queueJob {
                log.note("third")
                loop.queueJob { log.note("of the third") }
            }
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(log.entries == ["second", "third", "of the third"])
            #expect(loop.run(mode: .default, for: .zero) == .finished)

            queue.fill(slot, with: first.job, mark: first.executors.mark)
            loop.queueJob { log.note("last") }
            loop.run(mode: .default, for: .zero)
            #expect(log.entries.suffix(2) == ["first", "last"])
        }
    }

    /// Jobs that are taken together with a late one are known to wait, also where none comes later.
    @Test(arguments: DriverKind.allCases)
    func jobsThatCameBeforeALateOneKeepTheRunGoing(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let queue = loop.jobs.queue
            loop.queueJob { log.note("first") }
            let local = loop.local.here
            let first = try #require(loop.jobs.takeNext(&local.jobs))
            let slot = try #require(queue.reserve())
            loop.queueJob { log.note("second") }
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(log.entries == ["second"])

            queue.fill(slot, with: first.job, mark: first.executors.mark)
            let late = UVRunLoop.maxJobsAtOnce + 500
            for _ in 0..<late { loop.queueJob { log.note("late") } }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["second", "first"] + Array(repeating: "late", count: late))
            for _ in 0..<3 { #expect(!loop.jobs.holdsJob(&local.jobs)) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func jobsArePerformedAgainAfterSourcesAndAfterTimers(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in
                log.note("source")
                loop.queueJob { log.note("job of the source") }
            }
            loop.add(source, forMode: .default)
            source.signal()
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                log.note("timer")
                loop.queueJob { log.note("job of the timer") }
            }
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["source", "job of the source", "timer", "job of the timer"])
        }
    }

    @Test func jobsOfAllKindsAreInOneOrder() {
        withLoop(.manual) { loop, log in
            let actor = Pinned(loop)
            for number in 0..<10 {
                switch number % 2 {
                case 0: Task(executorPreference: loop.taskExecutor) { log.note("\(number)") }
                default: loop.queueJob(of: actor) { log.note("\(number)") }
                }
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == (0..<10).map(String.init))
        }
    }

    @Test func jobsQueuedByJobsArePerformedAtTheSamePoint() {
        withLoop(.manual) { loop, log in
            log.observe(loop, [.beforeTimers, .beforeWaiting])
            loop.queueJob {
                log.note("first")
                loop.queueJob { log.note("third") }
                loop.perform { log.note("block") }
            }
            loop.queueJob { log.note("second") }
            loop.run(mode: .default, for: nil)
            #expect(
                log.entries == [
                    "beforeTimers", "first", "second", "third", "beforeWaiting", "block",
                ]
            )
        }
    }

    // MARK: Modes

    @Test(arguments: DriverKind.allCases)
    func jobsWaitWhileAnotherModeRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let aside = UVRunLoop.Mode("aside of jobs")
            loop.queueJob { log.note("job") }
            #expect(loop.run(mode: aside, for: .zero) == .finished)
            loop.add(UVRunLoop.Source { _ in }, forMode: aside)
            #expect(loop.run(mode: aside, for: .milliseconds(1)) == .timedOut)
            #expect(log.entries == [])
            loop.addCommonMode(aside)
            loop.run(mode: aside, for: .zero)
            #expect(log.entries == ["job"])
        }
    }

    @Test func queuedJobsKeepTheCommonModesFromBeingEmptyAndSuspendedTasksDoNot() {
        withLoop(.manual) { loop, log in
            let resumed = TaskWait<Void>()
            #expect(loop.run(mode: .default, for: nil) == .finished)
            Task(executorPreference: loop.taskExecutor) {
                log.note("begins")
                try await UVRunLoop.outcome(of: resumed, on: loop, isolation: nil) {}
                log.note("goes on")
            }
            #expect(!loop.isEmpty(.default))
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["begins"])
            #expect(loop.isEmpty(.default))
            resumed.settle(.success(()))
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["begins", "goes on"])
        }
    }

    @Test func jobsAreNoHandledSources() {
        withLoop(.manual) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.queueJob { log.note("job") }
            let result = loop.run(
                mode: .default,
                for: .milliseconds(1),
                returnAfterSourceHandled: true
            )
            #expect(result == .timedOut)
            #expect(log.entries == ["job"])
        }
    }

    // MARK: Nested runs

    @Test(arguments: DriverKind.allCases)
    func runNestedInAJobServesNone(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.queueJob {
                loop.queueJob { log.note("job") }
                log.note("\(loop.runNested(for: nil))")
                loop.perform { log.note("block") }
                log.note("\(loop.runNested(for: nil))")
                #expect(loop.isEmpty(.default))
            }
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["finished", "block", "finished", "job"])
        }
    }

    @Test func handlersOfARunNestedInAJobServeNoneEither() {
        withLoop(.manual) { loop, log in
            loop.queueJob {
                loop.queueJob { log.note("job") }
                let timer = UVRunLoop.Timer(after: .zero) { _ in
                    log.note("timer")
                    log.note("\(loop.runNested(for: .zero))")
                }
                loop.add(timer, forMode: .default)
                log.note("\(loop.runNested(for: nil))")
            }
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["timer", "timedOut", "finished", "job"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func runNestedInAHandlerServesJobs(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                loop.queueJob { log.note("job of a timer") }
                log.note("\(loop.run(mode: .default, for: .zero))")
            }
            loop.add(timer, forMode: .default)
            loop.perform {
                loop.queueJob { log.note("job of a block") }
                log.note("\(loop.runNested(for: .zero))")
                log.note("block ends")
            }
            loop.run(mode: .default, for: nil)
            #expect(
                log.entries.filter { !$0.hasSuffix("Out") } == [
                    "job of a block", "job of a timer", "block ends",
                ]
            )
        }
    }

    // MARK: At most so many

    @Test func atMost1024JobsArePerformedAtOnePoint() {
        withLoop(.manual) { loop, log in
            let count = Guarded(0)
            let perPoint = Guarded<[Int]>([])
            for _ in 0..<3_000 { loop.queueJob { count.withLock { $0 += 1 } } }
            let observer = UVRunLoop.Observer(activities: [.beforeTimers, .beforeWaiting, .exit]) {
                _,
                _ in
                perPoint.withLock { $0.append(count.withLock { $0 }) }
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(perPoint.withLock { $0 } == [0, 1_024, 2_048, 3_000, 3_000])
        }
    }

    @Test func jobsThatAreLeftAreVisibleToNestedRuns() {
        withLoop(.manual) { loop, log in
            let count = Guarded(0)
            for _ in 0..<2_000 { loop.queueJob { count.withLock { $0 += 1 } } }
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                log.note("\(count.withLock { $0 })")
                #expect(!loop.isEmpty(.default))
                #expect(loop.run(mode: .default, for: nil) == .finished)
                log.note("\(count.withLock { $0 })")
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["1024", "2000"])
        }
    }

    @Test func tasksThatYieldForEverStarveNothing() {
        withLoop(.manual) { loop, log in
            let isDone = SharedBox(false)
            for _ in 0..<5_000 {
                Task(executorPreference: loop.taskExecutor) {
                    while !isDone.value { await Task.yield() }
                }
            }
            loop.perform { log.note("block") }
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .default)
            source.signal()
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                log.note("timer")
                isDone.value = true
                loop.perform { log.note("last block") }
                source.invalidate()
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["block", "source", "timer", "last block"])
        }
    }

    // MARK: Stops

    @Test func stopInAJobEndsTheRun() {
        withLoop(.manual) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.queueJob { loop.stop() }
            loop.queueJob { log.note("same point") }
            #expect(loop.run(mode: .default, for: .seconds(1)) == .stopped)
            #expect(log.entries == ["same point"])
        }
    }

    // MARK: Waking

    @Test func jobOfAnotherThreadWakesTheLoop() {
        withLoop { loop in
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            whenAsleep(loop) { loop.queueJob { loop.stop() } }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        }
    }

    @Test func noJobOfManyThreadsIsLostOrOutOfOrder() throws {
        let perThread = 20_000
        withLoop { loop in
            let seen = Guarded([[Int]](repeating: [], count: 4))
            let left = Guarded(4 * perThread)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            let threads = (0..<4).map { number in
                startThread {
                    for job in 0..<perThread {
                        loop.queueJob {
                            seen.withLock { $0[number].append(job) }
                            let isLast = left.withLock {
                                $0 -= 1
                                return $0 == 0
                            }
                            if isLast { loop.stop() }
                        }
                    }
                }
            }
            #expect(loop.run(mode: .default, for: .seconds(300)) == .stopped)
            threads.forEach { $0.join() }
            #expect(seen.withLock { $0.allSatisfy { $0 == Array(0..<perThread) } })
        }
    }
}

extension UVRunLoop {
    /// Queues a job of an actor.
    fileprivate func queueJob(of actor: Pinned, _ body: @escaping @Sendable () -> Void) {
        _ = Task.immediate(executorPreference: nil) { await actor.whileIsolated { _ in body() } }
    }

    /// Runs the loop in a job, where a direct call does not compile.
    fileprivate func runNested(for limit: Duration?) -> RunResult { run(for: limit) }
}
