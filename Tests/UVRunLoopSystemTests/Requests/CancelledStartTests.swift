import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

/// Sources that a task has another thread's loop make.
@Suite(.timeLimit(.minutes(15))) struct CancelledStartTests {
    @Test func aTaskThatIsCancelledMeanwhileLeavesNoSource() async throws {
        try await UVRunLoop.withThread { loop in
            let (isHeld, goOn, executor) = (Signal(), Signal(), HeldExecutor())
            loop.perform {
                isHeld.send()
                goOn.wait()
            }
            waitInThread(for: isHeld)
            let mode = UVRunLoop.Mode("test")
            loop.addCommonMode(mode)
            let task = Task(executorPreference: executor) {
                _ = try await loop.datagramPort(boundTo: .ipv4Loopback(port: 0))
            }
            executor.performNext()
            task.cancel()
            goOn.send()
            try awaitPasses(of: loop)
            executor.release()
            await #expect(throws: CancellationError.self) { try await task.value }
            let result = try runOnce(loop, mode)
            #expect(result == .finished)
        }
    }
}

private func waitInThread(for signal: Signal) { signal.wait() }

private func awaitPasses(of loop: UVRunLoop) throws {
    for _ in 0..<2 { try loop.performAndWait {} }
}

/// Runs the loop on its thread; it finishes at once if the mode is empty.
private func runOnce(_ loop: UVRunLoop, _ mode: UVRunLoop.Mode) throws -> UVRunLoop.RunResult {
    try loop.performAndWait { loop.run(mode: mode, for: .zero) }
}
