import Glibc
import Testing

@testable import UVRunLoop

/// Forks: what the child may do, what it must not, and that the parent never notices.
///
/// Each test has a process of its own, whose children end by `_exit` with 0 when all is well.
@Suite(.timeLimit(.minutes(15))) struct ForkTrapTests {
    @Test func aChildsLoopServesDescriptorsThatItsParentWatchesToo() async {
        await #expect(processExitsWith: .success) { watchInBoth() }
    }

    @Test(
        .disabled(
            if: isUnderThreadSanitizer,
            "The sanitizer does not survive the end of the main thread."
        )
    )
    func theEndOfTheThreadInTheChildTouchesNothingOfTheParents() async {
        await #expect(processExitsWith: .success) { endTheThreadInTheChild() }
    }

    @Test func theEndOfOtherThreadsInTheChildTouchesNothingOfTheParents() async {
        await #expect(processExitsWith: .success) { useThreadsInTheChild() }
    }

    @Test func aWakeUpThatIsPendingAtTheForkHoldsUpNeitherSide() async {
        await #expect(processExitsWith: .success) { forkWithAPendingWakeUp() }
    }

    @Test func aLoopThatSleepsOnAnotherThreadDuringAForkGoesOn() async {
        await #expect(processExitsWith: .success) { forkBesideASleepingLoop() }
    }

    @Test func aGrandchildHasALoopOfItsOwnToo() async {
        await #expect(processExitsWith: .success) { forkTwice() }
    }

    @Test func theMainLoopOfTheChildIsTheForkingThreads() async {
        await #expect(processExitsWith: .success) { useTheMainLoopInTheChild() }
    }

    /// The test library has used libdispatch, which a child cannot go on using.
    @Test func anAsynchronousMainFunctionOfTheChildTraps() async {
        await #expect(processExitsWith: .success) {
            precondition(trapsInChild { try? UVRunLoop.runMain {} })
        }
    }

    @Test func everyUseOfTheParentsLoopInTheChildTraps() async {
        await #expect(processExitsWith: .success) { useTheParentsLoopInChildren() }
    }
}

/// Forks; returns the status of the child, which is 0 when the body returns.
private func inChild(_ body: () -> Void) -> CInt {
    inChild(endingAfter: 60) {
        body()
        return 0
    }
}

private func check(_ condition: Bool, _ code: CInt) {
    if !condition { _exit(code) }
}

/// Has the calling thread's loop fire a timer and serve a descriptor.
private func checkLoop(_ loop: UVRunLoop, _ code: CInt) {
    let pipe = Pipe()
    let calls = Box(0)
    let source = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        calls.value += 1
        _ = pipe.read()
    }
    guard let source else { _exit(code) }
    loop.add(source, forMode: .default)
    let writer = startThread {
        usleep(500)
        pipe.write("x")
        loop.wakeUp()
    }
    check(
        loop.run(mode: .default, for: nil, returnAfterSourceHandled: true) == .handledSource,
        code
    )
    writer.join()
    source.invalidate()
    let timer = UVRunLoop.Timer(after: .microseconds(300)) { _ in
        calls.value += 1
        loop.stop()
    }
    loop.add(timer, forMode: .default)
    check(loop.run(mode: .default, for: nil) == .stopped && calls.value == 2, code)
}

/// A loop of the calling thread for which the kernel watches a descriptor and a timerfd.
private struct Parent {
    let loop = UVRunLoop.current
    let pipe = Pipe()
    let calls = Box(0)
    let source: UVRunLoop.DescriptorSource

    init() {
        let (pipe, calls) = (pipe, calls)
        let source = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
            calls.value += 1
            _ = pipe.read()
        }
        guard let source else { preconditionFailure("A pipe can be watched.") }
        self.source = source
        loop.add(source, forMode: .default)
        let timer = UVRunLoop.Timer(after: .microseconds(300)) { [loop] _ in loop.stop() }
        loop.add(timer, forMode: .default)
        precondition(loop.run(mode: .default, for: nil) == .stopped)
    }

    func expectService() {
        calls.value = 0
        pipe.write("x")
        withHangGuard {
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            precondition(result == .handledSource && calls.value == 1)
            checkLoop(loop, 99)
        }
    }
}

private func watchInBoth() {
    onAnotherThread {
        let parent = Parent()
        let status = inChild {
            let loop = UVRunLoop.current
            check(loop !== parent.loop, 1)
            let fd = parent.pipe.readEnd
            let calls = Box(0)
            let source = try? UVRunLoop.DescriptorSource(fd, events: .readable) { source, _ in
                drain(fd)
                calls.value += 1
                source.invalidate()
            }
            guard let source else { _exit(2) }
            loop.add(source, forMode: .default)
            parent.pipe.write("y")
            check(loop.run(mode: .default, for: nil) == .finished, 3)
            check(calls.value == 1, 4)
            checkLoop(loop, 5)
        }
        precondition(status == 0, "The child ended with \(status).")
        parent.expectService()
    }
}

private func endTheThreadInTheChild() {
    onAnotherThread {
        let parent = Parent()
        for usesLoop in [false, true] {
            let status = inChild {
                if usesLoop { checkLoop(UVRunLoop.current, 6) }
                // The only thread of the child, which ends the process.
                pthread_exit(nil)
            }
            precondition(status == 0, "The child ended with \(status).")
            parent.expectService()
        }
    }
}

private func useThreadsInTheChild() {
    onAnotherThread {
        let parent = Parent()
        let status = inChild {
            for _ in 0..<5 { onAnotherThread { checkLoop(UVRunLoop.current, 7) } }
        }
        precondition(status == 0, "The child ended with \(status).")
        parent.expectService()
    }
}

private func forkWithAPendingWakeUp() {
    onAnotherThread {
        let parent = Parent()
        parent.loop.perform {}
        parent.loop.wakeUp()
        let status = inChild { checkLoop(UVRunLoop.current, 8) }
        precondition(status == 0, "The child ended with \(status).")
        parent.expectService()
    }
}

private func forkBesideASleepingLoop() {
    let sleeper = Sleeper()
    onAnotherThread {
        let parent = Parent()
        while sleeper.loop.withLock({ $0?.isWaiting }) != true { usleep(100) }
        let status = inChild { checkLoop(UVRunLoop.current, 16) }
        precondition(status == 0, "The child ended with \(status).")
        parent.expectService()
    }
    let loop = sleeper.loop.withLock { $0 }
    loop?.perform { loop?.stop() }
    sleeper.join()
}

/// A thread whose loop sleeps until it is stopped.
private final class Sleeper: Sendable {
    let loop = Guarded<UVRunLoop?>(nil)
    private let thread = Guarded<RunningThread?>(nil)

    init() {
        let thread = startThread {
            let loop = UVRunLoop.current
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            self.loop.withLock { $0 = loop }
            precondition(loop.run(mode: .default, for: nil) == .stopped)
        }
        self.thread.withLock { $0 = thread }
    }

    func join() { thread.withLock { $0 }?.join() }
}

private func forkTwice() {
    onAnotherThread {
        let parent = Parent()
        let status = inChild {
            let child = Parent()
            check(child.loop !== parent.loop, 9)
            let status = inChild {
                let loop = UVRunLoop.current
                check(loop !== child.loop && loop !== parent.loop, 10)
                checkLoop(loop, 11)
            }
            check(status == 0, 12)
            child.expectService()
        }
        precondition(status == 0, "The child ended with \(status).")
        parent.expectService()
    }
}

private func useTheMainLoopInTheChild() {
    let main = UVRunLoop.main
    onAnotherThread {
        let parent = Parent()
        let status = inChild {
            // The thread that forked is the child's main thread.
            check(UVRunLoop.main !== main, 13)
            check(UVRunLoop.main === UVRunLoop.current, 14)
            checkLoop(UVRunLoop.main, 15)
        }
        precondition(status == 0, "The child ended with \(status).")
        parent.expectService()
        precondition(UVRunLoop.main === main)
    }
}

/// A port of a loop that has a message.
private func queuedPort(in loop: UVRunLoop, capacity: Int) -> UVRunLoop.Port {
    let port = UVRunLoop.Port(capacity: capacity, sendableHandler: { _, _ in })
    loop.add(port, forMode: .modalPanel)
    precondition(port.send(UVRunLoop.PortMessage(id: 0)))
    return port
}

private func useTheParentsLoopInChildren() {
    onAnotherThread {
        let parent = Parent()
        let loop = parent.loop
        let source = UVRunLoop.Source(sendablePerform: { _ in })
        loop.add(source, forMode: .default)
        let timer = UVRunLoop.Timer(after: .seconds(600), sendableHandler: { _ in })
        loop.add(timer, forMode: .default)
        // Its timer leaves the loop at the first date.
        let ticks = loop.ticks(every: .milliseconds(1))
        precondition(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
        let message = UVRunLoop.PortMessage(id: 1)
        let (full, other) = (queuedPort(in: loop, capacity: 1), queuedPort(in: loop, capacity: 2))
        let uses: [(String, () -> Void)] = [
            ("run", { loop.run(mode: .default, for: .zero) }),
            ("wakeUp", { loop.wakeUp() }),
            ("stop", { loop.stop() }),
            ("perform", { loop.perform {} }),
            ("add", { loop.add(UVRunLoop.Source { _ in }, forMode: .default) }),
            ("signal", { source.signal() }),
            ("invalidate a source", { source.invalidate() }),
            ("invalidate a timer", { timer.invalidate() }),
            ("invalidate ticks", { ticks.invalidate() }),
            ("set a date", { timer.tolerance = .seconds(1) }),
            ("invalidate a port", { parent.source.invalidate() }),
            ("remove a port", { loop.remove(parent.source, forMode: .default) }),
            ("send to a full port", { _ = full.send(message, limit: .zero) }),
            ("send to a port with a message", { _ = other.send(message) }),
            ("modes", { _ = loop.modes }),
            ("now", { _ = loop.now }),
        ]
        for (name, use) in uses {
            precondition(trapsInChild(use), "\(name) did not trap.")
        }
        parent.expectService()
    }
}
