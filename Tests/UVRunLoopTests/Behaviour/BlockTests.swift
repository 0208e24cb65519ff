import Testing
import UVRunLoop

/// Blocks handed to the loop: their order, their modes, and the points at which they run.
@Suite(.timeLimit(.minutes(15))) struct BlockTests {
    // MARK: Order

    @Test(arguments: DriverKind.allCases)
    func blocksRunInTheOrderTheyWereQueued(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            for number in 1...5 { loop.perform { log.note("block \(number)") } }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(
                log.entries == ["entry", "beforeTimers", "beforeSources"]
                    + (1...5).map { "block \($0)" } + ["beforeWaiting", "afterWaiting", "exit"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func localBlocksAndBlocksOfOtherThreadsShareOneQueue(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.perform { log.note("first") }
            loop.performLocally(inModes: [.default]) { log.note("second, local") }
            onAnotherThread { loop.perform { log.note("third, from another thread") } }
            loop.performLocally(inModes: [.default]) { log.note("fourth, local") }
            loop.perform { log.note("fifth") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(
                log.entries == [
                    "first", "second, local", "third, from another thread", "fourth, local",
                    "fifth",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockRunsOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.perform { log.note("block") }
            loop.performLocally { log.note("local block") }
            for _ in 1...3 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["block", "local block"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockQueuedByABlockWaitsForTheNextBatch(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            loop.perform {
                log.note("first")
                loop.perform { log.note("third") }
            }
            loop.perform { log.note("second") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "first", "second",
                    "beforeWaiting", "afterWaiting", "third", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLocalBlockQueuedByABlockWaitsForTheNextBatch(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.performLocally {
                log.note("first")
                loop.performLocally { log.note("third") }
                log.note("first ends")
            }
            loop.performLocally { log.note("second") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["first", "first ends", "second", "third"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockThatKeepsQueueingItselfStarvesNothing(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let port = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                _ = pipe.read()
                log.note("port")
            }
            loop.add(port, forMode: .default)
            pipe.write("x")
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .default)
            source.signal()
            loop.add(
                UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") },
                forMode: .default
            )
            letTimePass(.milliseconds(2), loop)
            loop.perform { queueAgain(on: loop, until: log, has: 3) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["source", "port", "timer"])
        }
    }

    // MARK: When they run

    @Test(arguments: DriverKind.allCases)
    func aBlockQueuedByAnEarlyObserverRunsInTheSamePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .default)
            source.signal()
            log.observe(loop)
            let moments: UVRunLoop.Activities = [.entry, .beforeTimers, .beforeSources]
            let observer = UVRunLoop.Observer(activities: moments) { _, activity in
                loop.perform { log.note("block \(activity.rawValue)") }
            }
            loop.add(observer, forMode: .default)
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "block 1", "block 2", "block 4", "source", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksRunAgainAfterTheSourcesOfThePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for number in 1...2 {
                let source = UVRunLoop.Source(order: number) { _ in
                    log.note("source \(number)")
                    loop.perform { log.note("block of source \(number)") }
                }
                loop.add(source, forMode: .default)
                source.signal()
            }
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(
                log.entries == [
                    "source 1", "source 2", "block of source 1", "block of source 2",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksRunAgainAfterAllTimersOfThePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for number in 1...2 {
                let timer = UVRunLoop.Timer(after: .milliseconds(number)) { _ in
                    log.note("timer \(number)")
                    loop.perform { log.note("block of timer \(number)") }
                }
                loop.add(timer, forMode: .default)
            }
            letTimePass(.milliseconds(4), loop)
            loop.run(mode: .default, for: .zero)
            #expect(
                log.entries == ["timer 1", "timer 2", "block of timer 1", "block of timer 2"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockOfAnExitObserverWaitsForTheNextRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .exit, repeats: false) { _, _ in
                loop.perform { log.note("block") }
            }
            loop.add(observer, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == [])
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["block"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksFromAnotherThreadWakeTheSleepingLoopAndKeepTheirOrder(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                elsewhere(after: .milliseconds(5), loop) {
                    for number in 1...3 { loop.perform { log.note("block \(number)") } }
                    loop.perform { loop.stop() }
                }
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["block 1", "block 2", "block 3"])
        }
    }

    // MARK: Modes

    @Test(arguments: DriverKind.allCases)
    func performMeansTheDefaultMode(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            loop.perform { log.note("block") }
            loop.run(mode: other, for: .zero)
            #expect(log.entries == [])
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["block"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksOfOtherModesStayInTheirOrder(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for number in 1...6 {
                let mode = number.isMultiple(of: 2) ? other : .default
                loop.perform(inModes: [mode]) { log.note("block \(number)") }
            }
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["block 1", "block 3", "block 5"])
            log.clear()
            loop.run(mode: other, for: nil)
            #expect(log.entries == ["block 2", "block 4", "block 6"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockForSeveralModesRunsOnceInTheFirstThatRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.perform(inModes: [.default, other, .default]) { log.note("block") }
            loop.performLocally(inModes: [other, .default]) { log.note("local block") }
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["block", "local block"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aModeThatOnlyABlockNamesCanRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.perform(inModes: [other]) { log.note("block") }
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(log.entries == ["block"])
        }
    }

    // MARK: Nested runs

    @Test(arguments: DriverKind.allCases)
    func aNestedRunInsideABlockRunsTheBlocksOfItsMode(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.perform {
                log.note("outer begins")
                loop.run(mode: other, for: nil)
                log.note("outer ends")
            }
            loop.perform(inModes: [other]) { log.note("inner") }
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["outer begins", "inner", "outer ends"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aNestedRunKeepsTheOrderOfOuterBlocks(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.perform { loop.run(mode: .default, for: .zero) }
            for number in 1...3 { loop.perform { log.note("block \(number)") } }
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(log.entries == ["block 1", "block 2", "block 3"])
        }
    }

    // MARK: Lifetime and misuse

    @Test(arguments: DriverKind.allCases)
    func whatABlockHeldMayCallTheLoopWhenItIsReleased(kind: DriverKind) {
        withLoop(kind) { loop, log in
            queueBlockWithAFarewell(on: loop, log)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            for _ in 1...2 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["block", "released", "last words"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLocalBlockMayKeepWhatIsNotSendable(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let box = Box(0)
            loop.performLocally { box.value += 1 }
            loop.performLocally(inModes: [other]) { box.value += 10 }
            loop.run(mode: .default, for: nil)
            loop.run(mode: other, for: nil)
            #expect(box.value == 11)
        }
    }

    /// The queue's memory is used again, and its end may be where it was when it was empty.
    @Test(arguments: DriverKind.allCases)
    func blocksAreFoundWhereverTheQueueEnds(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            // A segment has 126 slots.
            for first in 120...130 {
                let calls = Box(0)
                for _ in 0..<first { loop.performLocally { calls.value += 1 } }
                loop.run(mode: .default, for: .zero)
                for count in 1...300 {
                    loop.performLocally { calls.value += 1 }
                    #expect(!loop.isEmpty(.default), "\(count) blocks after \(first) are missed.")
                }
                loop.run(mode: .default, for: .zero)
                #expect(calls.value == first + 300)
            }
        }
    }

    @Test func aBlockForNoModeTraps() async {
        await #expect(processExitsWith: .failure) { performInNoMode() }
    }

    @Test func aLocalBlockFromAnotherThreadTraps() async {
        await #expect(processExitsWith: .failure) { performLocallyFromAnotherThread() }
    }
}

private let other = UVRunLoop.Mode(rawValue: "other")

@Sendable private func queueAgain(on loop: UVRunLoop, until log: EventLog, has count: Int) {
    guard log.entries.count < count else { return loop.stop() }
    loop.perform { queueAgain(on: loop, until: log, has: count) }
}

/// Queues a block; what it has captured queues another one when it is released.
private func queueBlockWithAFarewell(on loop: UVRunLoop, _ log: EventLog) {
    let farewell = Farewell {
        log.note("released")
        loop.perform { log.note("last words") }
    }
    loop.perform {
        log.note("block")
        withExtendedLifetime(farewell) {}
    }
}

private func performInNoMode() {
    UVRunLoop.current.perform(inModes: []) {}
}

private func performLocallyFromAnotherThread() {
    let loop = UVRunLoop.current
    onAnotherThread { loop.performLocally {} }
}
