import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private struct Refusal: Error {}

/// Work on the pool that tasks wait for.
@Suite(.timeLimit(.minutes(15))) struct OffloadTaskTests {
    @Test func aTaskGetsTheValue() async throws {
        try await UVRunLoop.withThread { loop in
            let value = try await loop.offload { 6 * 7 }
            #expect(value == 42)
        }
    }

    @Test func aTaskGetsTheError() async throws {
        try await UVRunLoop.withThread { loop in
            await #expect(throws: Refusal.self) {
                try await loop.offload { () throws -> Int in throw Refusal() }
            }
            return
        }
    }

    @Test func aTaskElsewhereGetsTheValue() async throws {
        let thread = try startLoopThread()
        let loop = thread.runLoop
        let value = try await loop.offload { 42 }
        #expect(value == 42)
        thread.stop()
        await #expect(throws: UVRunLoop.PerformError.threadEnded) {
            // The thread may still be ending, which drops the request, too.
            while true { _ = try await loop.offload { 42 } }
        }
    }

    @Test func aCancelledTaskDoesNotWait() async throws {
        try await UVRunLoop.withThread { loop in
            let gate = Signal()
            let begun = Signal()
            // On the pool of tasks, both could wait for minutes for their turns.
            let observer = Task(executorPreference: loop.taskExecutor) {
                let task = Task(executorPreference: loop.taskExecutor) {
                    try await loop.offload {
                        begun.send()
                        gate.wait()
                    }
                }
                while !begun.hasCome { await Task.yield() }
                task.cancel()
                let result = await task.result
                gate.send()
                return result
            }
            let result = await observer.value
            #expect(throws: CancellationError.self) { try result.get() }
        }
    }
}
