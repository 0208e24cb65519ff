import Glibc
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

    /// A task may be cancelled while its program is being started.
    @Test func noChildIsLeftThatNobodyGets() async {
        await #expect(processExitsWith: .success) {
            try await UVRunLoop.withThread { loop in
                for number in 0..<200 {
                    let task = Task { try await loop.spawn(.init("true")) }
                    try await Task.sleep(for: .microseconds(8 * number))
                    task.cancel()
                    guard let child = try? await task.value else { continue }
                    for await event in child.events {
                        if case .exited = event { break }
                    }
                }
                try await yield(until: { !hasChildren() })
            }
        }
    }
}

/// Whether the process has a child that nobody has waited for.
private func hasChildren() -> Bool {
    var info = siginfo_t()
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
}

private func awaitPasses(of loop: UVRunLoop) throws {
    for _ in 0..<2 { try loop.performAndWait {} }
}

/// Runs the loop on its thread; it finishes at once if the mode is empty.
private func runOnce(_ loop: UVRunLoop, _ mode: UVRunLoop.Mode) throws -> UVRunLoop.RunResult {
    try loop.performAndWait { loop.run(mode: mode, for: .zero) }
}
