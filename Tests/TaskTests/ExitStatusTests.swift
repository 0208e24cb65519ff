import Glibc
import Testing

@testable import UVRunLoop

/// Ends of child processes, awaited.
@Suite(.timeLimit(.minutes(15))) struct ExitStatusTests {
    @Test func exitCodesAndSignalsAreReturned() async throws {
        try await UVRunLoop.withThread { loop in
            let child = startChild { 7 }
            #expect(try await loop.exitStatus(of: child) == .exited(code: 7))
            let killed = startIdleChild()
            kill(killed, SIGKILL)
            let status = try await loop.exitStatus(of: killed)
            #expect(status == .signaled(signal: SIGKILL, coreDumped: false))
        }
    }

    @Test func processThatIsNoChildIsRefused() async throws {
        try await UVRunLoop.withThread { loop in
            let error = await #expect(throws: RunLoopError.self) {
                try await loop.exitStatus(of: 1)
            }
            #expect(error?.code == .noSuchChild)
        }
    }

    @Test func cancellationLeavesTheStatusToOthers() async throws {
        try await UVRunLoop.withThread { loop in
            let child = startIdleChild()
            let wait = Task { try await loop.exitStatus(of: child) }
            await Task.yield()
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
            kill(child, SIGKILL)
            let status = try await loop.exitStatus(of: child)
            #expect(status == .signaled(signal: SIGKILL, coreDumped: false))
        }
    }

    @Test func aCancelledWaitTakesNoStatus() async throws {
        try await UVRunLoop.withThread { loop in
            for round in 0..<60 {
                let child = startChild { 0 }
                awaitZombie(child)
                let wait = Task.detached { try await loop.exitStatus(of: child) }
                for _ in 0..<round % 20 { await Task.yield() }
                wait.cancel()
                do {
                    #expect(try await wait.value == .exited(code: 0))
                } catch {
                    #expect(error is CancellationError && awaitEnd(of: child) == 0)
                }
            }
        }
    }

    @Test func aWaitThatHasEndedTakesNoOutcome() {
        let wait = TaskWait<Int>()
        #expect(!wait.settle { nil })
        #expect(wait.settle(.failure(CancellationError())))
        #expect(
            !wait.settle {
                Issue.record("It was taken.")
                return .success(1)
            }
        )
    }

    @Test func endOfTheLoopEndsTheWait() async throws {
        let thread = try startLoopThread()
        let child = startIdleChild()
        let wait = Task { try await thread.runLoop.exitStatus(of: child) }
        try await thread.runLoop.sleep(for: .milliseconds(2))
        thread.stop()
        await #expect(throws: UVRunLoop.PerformError.threadEnded) { try await wait.value }
        await #expect(throws: UVRunLoop.PerformError.threadEnded) {
            try await thread.runLoop.exitStatus(of: child)
        }
        kill(child, SIGKILL)
        thread.joinInTask()
        #expect(awaitEnd(of: child) == -SIGKILL)
    }
}
