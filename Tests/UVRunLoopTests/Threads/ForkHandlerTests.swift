import Glibc
import Testing

@testable import UVRunLoop

/// Functions of `pthread_atfork`, which are called in the child before `fork` returns there.
@Suite(.timeLimit(.minutes(15))) struct ForkHandlerTests {
    /// The library counts forks before: it would give the parent's loop otherwise.
    @Test func aForkHandlerThatCameBeforeTheFirstLoopFindsANewOne() async {
        await #expect(processExitsWith: .success) { lookInAForkHandler() }
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
    precondition(inChild { hasNewLoop == true ? 0 : 1 } == 0)
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
