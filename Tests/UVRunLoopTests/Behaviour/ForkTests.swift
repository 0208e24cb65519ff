import Glibc
import Testing
import UVRunLoop

/// A process that forks: each test runs in a process of its own, so that little else goes on in it.
@Suite(.timeLimit(.minutes(15))) struct ForkTests {
    @Test func theChildsCurrentLoopIsFreshAndTheParentNoticesNothing() async {
        await #expect(processExitsWith: .success) { forkAndUseAFreshLoop() }
    }

    @Test func aThreadThatEndsInTheChildLeavesTheParentsRegistrationsAlone() async {
        await #expect(processExitsWith: .success) { forkAndEndTheChildsThread() }
    }

    @Test func theParentsItemsAreDescribedInTheChild() async {
        await #expect(processExitsWith: .success) { forkAndDescribeItems() }
    }

    @Test func usingTheParentsLoopInTheChildTraps() async {
        await #expect(processExitsWith: .success) { forkAndUseTheParentsLoop() }
    }
}

private func forkAndUseAFreshLoop() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let log = EventLog()
        let pipe = watchedPipe(loop, log)

        let status = inChild {
            let fresh = UVRunLoop.current
            guard fresh !== loop, fresh === UVRunLoop.current else { return 2 }
            fresh.add(UVRunLoop.Timer(after: .milliseconds(1)) { _ in }, forMode: .default)
            return fresh.run(mode: .default, for: .seconds(60)) == .finished ? 0 : 3
        }
        precondition(status == 0, "The child found something wrong.")
        expectService(loop, log, pipe)
    }
}

private func forkAndEndTheChildsThread() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let log = EventLog()
        let pipe = watchedPipe(loop, log)

        // In the child the thread ends here and takes the process with it.
        _ = inChild { pthread_exit(nil) }
        expectService(loop, log, pipe)
    }
}

private func forkAndDescribeItems() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let timer = UVRunLoop.Timer(after: .seconds(1_000)) { _ in }
        loop.add(timer, forMode: .default)
        let request = loop.requestPerform {}
        let status = inChild {
            let words = "of the process that forked this one"
            guard "\(timer)".contains(words), "\(request)".contains(words) else { return 2 }
            return "\(loop)".contains(words) ? 0 : 3
        }
        precondition(status == 0, "The child found something wrong.")
    }
}

private func forkAndUseTheParentsLoop() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let log = EventLog()
        let pipe = watchedPipe(loop, log)

        let source = UVRunLoop.Source { _ in }
        let uses: [() -> Void] = [
            { loop.run(mode: .default, for: .zero) },
            { _ = loop.contains(source, forMode: .default) },
        ]
        for use in uses {
            let status = inChild {
                use()
                return 0
            }
            precondition(status < 0, "The child used its parent's loop.")
        }
        expectService(loop, log, pipe)
    }
}

/// A pipe that the loop watches, as the kernel knows.
private func watchedPipe(_ loop: UVRunLoop, _ log: EventLog) -> Pipe {
    let pipe = Pipe()
    let source = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        log.note("read \(pipe.read() ?? "nothing")")
    }
    guard let source else { preconditionFailure("A pipe can be watched.") }
    loop.add(source, forMode: .default)
    loop.add(UVRunLoop.Timer(after: .microseconds(200)) { _ in loop.stop() }, forMode: .default)
    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
    return pipe
}

private func expectService(_ loop: UVRunLoop, _ log: EventLog, _ pipe: Pipe) {
    pipe.write("x")
    let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
    precondition(result == .handledSource && log.entries == ["read x"], "The port was not served.")

    let fired = UVRunLoop.Timer(after: .microseconds(300)) { _ in loop.stop() }
    loop.add(fired, forMode: .default)
    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped, "No timer fired.")
}
