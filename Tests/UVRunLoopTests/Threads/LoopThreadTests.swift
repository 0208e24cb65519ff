import Glibc
import Testing

@testable import UVRunLoop

/// Threads that are there for their loops: how they start, what they keep, how they are joined.
@Suite(.timeLimit(.minutes(15))) struct LoopThreadTests {
    @Test func itsLoopIsThereAtOnceAndRuns() throws {
        let thread = try UVRunLoop.Thread(name: "worker")
        let log = EventLog()
        #expect(thread.runLoop !== UVRunLoop.current)
        #expect(thread.name == "worker")
        let loop = thread.runLoop
        thread.runLoop.perform {
            log.note(UVRunLoop.current === loop ? "its own" : "another")
            log.note(UVRunLoop.current.currentMode?.rawValue ?? "no mode")
        }
        thread.stop()
        thread.join()
        #expect(log.entries == ["its own", UVRunLoop.Mode.default.rawValue])
    }

    @Test func theSystemShowsFifteenBytesOfTheNameInWholeCharacters() throws {
        let names = [
            "worker": "worker", "a very long name": "a very long nam", "ääääääää": "äääääää",
        ]
        for (name, shown) in names {
            let thread = try UVRunLoop.Thread(name: name)
            #expect(try thread.runLoop.performAndWait { currentThreadName() } == shown)
            #expect(thread.name == name)
            thread.stop()
            thread.join()
        }
    }

    @Test func itHasTheStackThatWasAskedFor() throws {
        for size in [PosixThread.smallestStack, 1_000_000, 64 << 20] {
            let thread = try UVRunLoop.Thread(stackSize: size)
            #expect(try thread.runLoop.performAndWait { useStack(size / 2) } > 0)
            thread.runLoop.add(
                UVRunLoop.Timer(after: .zero, sendableHandler: { _ in thread.stop() }),
                forMode: .default
            )
            thread.join()
        }
    }

    @Test func aStackThatNoThreadCanHaveIsAnError() {
        for size in [Int.min, -1, 0, 1, PosixThread.smallestStack - 1, .max - 1, .max] {
            let error = #expect(throws: RunLoopError.self) {
                try UVRunLoop.Thread(stackSize: size)
            }
            #expect(error?.code == .stackSizeNotPossible)
        }
        let error = #expect(throws: RunLoopError.self) {
            try UVRunLoop.Thread(stackSize: 1 << 60)
        }
        #expect(error?.code == .noThreadsLeft)
    }

    @Test func aThreadThatFindsNoDescriptorsIsAnErrorAndLeavesNothing() async {
        await #expect(processExitsWith: .success) { inQuietProcess { startWithoutDescriptors() } }
    }

    @Test func itsSetUpRunsOnItBeforeTheLoopDoesAndIsReleased() throws {
        let log = EventLog()
        let goOn = Signal()
        let thread = try UVRunLoop.Thread { [witness = Witness("set-up", log)] in
            goOn.wait()
            witness.note(UVRunLoop.Thread.current === nil ? "elsewhere" : "on its thread")
            log.note("\(UVRunLoop.current.nestingLevel)")
        }
        thread.runLoop.perform { log.note("block") }
        thread.runLoop.requestPerform { log.note("request") }
        goOn.send()
        thread.stop()
        thread.join()
        #expect(
            log.entries == ["set-up on its thread", "0", "set-up gone", "block", "request"]
        )
    }

    @Test func currentIsTheThreadForWorkOnItAndNothingElsewhere() throws {
        let thread = try UVRunLoop.Thread()
        #expect(UVRunLoop.Thread.current == nil)
        let isCurrent = try thread.runLoop.performAndWait { UVRunLoop.Thread.current === thread }
        #expect(isCurrent)
        thread.stop()
        thread.join()
        #expect(UVRunLoop.Thread.current == nil)
    }

    @Test func aStopOfTheLoopEndsARunAndNotTheThread() throws {
        let thread = try UVRunLoop.Thread()
        for _ in 1...100 { thread.runLoop.stop() }
        try thread.runLoop.performAndWait { UVRunLoop.current.stop() }
        #expect(try thread.runLoop.performAndWait { 1 } == 1)
        #expect(!thread.isStopping)
        thread.stop()
        #expect(thread.isStopping)
        thread.join()
    }

    // MARK: Joining

    @Test func joinReturnsWhenTheLoopIsGoneAsOftenAsOneLikes() throws {
        let log = EventLog()
        let thread = try UVRunLoop.Thread()
        let source = UVRunLoop.Source(
            cancel: { _, _ in
                usleep(2000)
                log.note("cancelled")
            },
            sendablePerform: { _ in }
        )
        thread.runLoop.add(source, forMode: .default)
        let others = (0..<4).map { _ in
            startThread {
                thread.join()
                log.note("joined")
            }
        }
        thread.stop()
        thread.join()
        thread.join()
        for other in others { other.join() }
        #expect(log.entries == ["cancelled"] + Array(repeating: "joined", count: 4))
    }

    @Test func joiningOneselfTraps() async {
        await #expect(processExitsWith: .failure) { joinOneself() }
    }

    // MARK: Let go

    @Test func aJoinedThreadLeavesNothingOfItsLoop() async {
        await #expect(processExitsWith: .success) {
            precondition(loopOfAJoinedThread() == nil)
        }
    }

    @Test func aThreadThatNobodyKeepsGoesOnUntilItIsStopped() throws {
        let (log, gone) = (EventLog(), Signal())
        var loop: UVRunLoop?
        do {
            let thread = try UVRunLoop.Thread()
            loop = thread.runLoop
        }
        let source = UVRunLoop.Source(cancel: { _, _ in gone.send() }, sendablePerform: { _ in })
        loop?.add(source, forMode: .default)
        try loop?.performAndWait { log.note("goes on") }
        try loop?.performAndWait {
            weak let thread = UVRunLoop.Thread.current
            thread?.stop()
        }
        gone.wait()
        #expect(log.entries == ["goes on"])
    }

    @Test func threadsThatEndLeaveNoDescriptorBehindJoinedOrNot() async {
        await #expect(processExitsWith: .success) {
            startAndStop(joining: true)
            inQuietProcess { countDescriptors() }
        }
    }

    @Test func aForkedChildCannotUseItsParentsThread() async {
        await #expect(processExitsWith: .success) {
            // The runtime finds the types of threads before the fork.
            startAndStop(joining: true)
            inQuietProcess { useTheParentsThread() }
        }
    }
}

private func currentThreadName() -> String {
    let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
}

/// Goes so many bytes down the stack; answers how many calls that took.
///
/// In few large steps: the thread sanitizer keeps count of no more than 65,536 calls.
@inline(never)
private func useStack(_ size: Int, from start: UInt? = nil) -> Int {
    var room = InlineArray<16_384, UInt8>(repeating: 1)
    return withUnsafeMutablePointer(to: &room) { pointer in
        let here = UInt(bitPattern: pointer)
        let start = start ?? here
        return start - here >= size ? 1 : 1 + useStack(size, from: start)
    }
}

private func startWithoutDescriptors() {
    let table = FullTable()
    for left in 0..<3 {
        table.leave(left)
        do {
            _ = try UVRunLoop.Thread()
            preconditionFailure("A loop takes more descriptors.")
        } catch {
            precondition(error.code == .noDescriptorsLeft, "\(error)")
        }
    }
    table.leave(10)
    guard let thread = try? UVRunLoop.Thread() else { preconditionFailure("No thread.") }
    thread.stop()
    thread.join()
}

private func joinOneself() {
    guard let thread = try? UVRunLoop.Thread() else { return }
    thread.runLoop.perform { thread.join() }
    thread.join()
}

private func countDescriptors() {
    startAndStop(joining: true)
    let before = openDescriptorCount()
    for _ in 1...50 { startAndStop(joining: true) }
    precondition(openDescriptorCount() == before, "Joined threads left descriptors.")
    for _ in 1...50 { startAndStop(joining: false) }
    // They end by themselves, some time.
    let isBack = awaitCondition(pause: 1_000) { openDescriptorCount() == before }
    precondition(isBack, "Other threads left descriptors.")
}

private func startAndStop(joining: Bool) {
    guard let thread = try? UVRunLoop.Thread() else { preconditionFailure("No thread.") }
    thread.stop()
    if joining { thread.join() }
}

private func loopOfAJoinedThread() -> UVRunLoop? {
    weak var loop: UVRunLoop?
    do {
        guard let thread = try? UVRunLoop.Thread() else { preconditionFailure("No thread.") }
        loop = thread.runLoop
        thread.stop()
        thread.join()
    }
    return loop
}

private func useTheParentsThread() {
    guard let thread = try? UVRunLoop.Thread() else { preconditionFailure("No thread.") }
    let uses: [() -> Void] = [
        { thread.stop() }, { thread.join() }, { thread.runLoop.requestPerform {} },
        { _ = try? thread.runLoop.performAndWait {} }, { _ = thread.isStopping },
        { thread.runLoop.cancelPerformRequests(target: thread) },
    ]
    for use in uses {
        let status = inChild {
            use()
            return 0
        }
        precondition(status < 0, "The child used its parent's thread.")
    }
    let status = inChild {
        // A thread of the child's own.
        guard let fresh = try? UVRunLoop.Thread() else { return 1 }
        fresh.stop()
        fresh.join()
        return 0
    }
    precondition(status == 0, "The child has no threads of its own.")
    thread.stop()
    thread.join()
}
