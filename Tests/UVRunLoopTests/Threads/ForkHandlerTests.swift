import Glibc
import Testing

@testable import UVRunLoop

/// Functions of `pthread_atfork`, which are called in the child before `fork` returns there.
@Suite(.timeLimit(.minutes(15))) struct ForkHandlerTests {
    /// The library's own handlers come before: it would give the parent's loop otherwise, or end the
    /// new one.
    @Test func aForkHandlerThatCameBeforeTheFirstLoopFindsANewOneThatRuns() async {
        await #expect(processExitsWith: .success) { lookInAForkHandler() }
    }

    @Test func aHandlerThatReturnsInTheChildTrapsWhenAForkHandlerMadeALoopThere() async {
        await #expect(processExitsWith: .success) { returnBesideAForkHandlersLoop() }
    }

    @Test func aSignalThatAForkHandlerTakesIsDelivered() async {
        await #expect(processExitsWith: .success) { takeASignalInAForkHandler() }
    }

    @Test func aCancelHandlerThatReturnsInTheChildTraps() async {
        await #expect(processExitsWith: .success) {
            let status = SharedBox<CInt>(0)
            let log = EventLog()
            onAnotherThread {
                for _ in 0..<2 {
                    let source = UVRunLoop.Source(
                        cancel: { _, _ in
                            if status.value != 0 { return }
                            status.value = 1
                            if !isInForkedChild({ status.value = $0 }) { log.note("cancelled") }
                        },
                        sendablePerform: { _ in }
                    )
                    UVRunLoop.current.add(source, forMode: .default)
                }
            }
            precondition(isTrap(status.value) && log.entries == ["cancelled"])
        }
    }

    @Test func aMonitorsHandlerThatReturnsInTheChildTraps() async {
        await #expect(processExitsWith: .success) { try forkInAMonitorsHandler() }
    }
}

private nonisolated(unsafe) var parentsLoop: UVRunLoop?
private nonisolated(unsafe) var hasNewLoop: Bool?

private func lookInAForkHandler() {
    pthread_atfork(nil, nil) { hasNewLoop = UVRunLoop.current !== parentsLoop }
    parentsLoop = UVRunLoop.current
    let status = inChild {
        guard hasNewLoop == true else { return 1 }
        return newLoopFires() ? 0 : 2
    }
    precondition(status == 0, "\(status)")
}

/// Whether the calling thread's loop runs until its only timer has fired.
private func newLoopFires() -> Bool {
    let log = EventLog()
    UVRunLoop.current.add(
        UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("fired") },
        forMode: .default
    )
    let result = UVRunLoop.current.run(mode: .default, for: .seconds(60))
    return result == .finished && log.entries == ["fired"]
}

private func returnBesideAForkHandlersLoop() {
    pthread_atfork(nil, nil) { _ = UVRunLoop.current }
    precondition(aBlockTrapsInAForkedChild(of: .current))
}

private nonisolated(unsafe) var childsLog: EventLog?

private func takeASignalInAForkHandler() {
    pthread_atfork(nil, nil) {
        let log = EventLog()
        UVRunLoop.current.add(noteSignal(SIGUSR1, log), forMode: .default)
        childsLog = log
    }
    UVRunLoop.current.add(noteSignal(SIGUSR1, EventLog()), forMode: .default)
    let status = inChild {
        kill(getpid(), SIGUSR1)
        _ = serveOne(UVRunLoop.current)
        return childsLog?.entries == ["signal 1"] ? 0 : 1
    }
    precondition(status == 0, "\(status)")
}

private func forkInAMonitorsHandler() throws {
    let status = SharedBox<CInt>(0)
    let told = Signal()
    let monitor = try UVRunLoop.Monitor(
        threshold: .milliseconds(20),
        capturesStacks: false
    ) { event in
        guard case .began = event else { return }
        if !isInForkedChild({ status.value = $0 }) { told.send() }
    }
    let loop = UVRunLoop.current
    loop.perform { told.wait() }
    loop.run(mode: .default, for: .milliseconds(1))
    precondition(isTrap(status.value), "\(status.value)")
    monitor.stop()
}
