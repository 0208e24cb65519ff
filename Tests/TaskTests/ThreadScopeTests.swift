import Testing

@testable import UVRunLoop

/// Threads that last as long as an asynchronous function.
@Suite(.timeLimit(.minutes(15))) struct ThreadScopeTests {
    private struct Failure: Error {}

    @Test func threadLastsAsLongAsTheFunction() async throws {
        let loop = try await UVRunLoop.withThread(name: "scope") { loop in
            #expect(!loop.isStopping)
            #expect(!loop.isOnOwnThread)
            return loop
        }
        #expect(loop.isStopping)
        // The loop is gone, not only its thread stopped.
        #expect(loop.withEngine { $0.isClosed })
    }

    @Test func queuedWorkIsPerformedBeforeTheEnd() async throws {
        let log = EventLog()
        try await UVRunLoop.withThread { loop in
            for number in 0..<100 { loop.perform { log.note("\(number)") } }
        }
        #expect(log.count == 100)
    }

    @Test func errorEndsTheThreadToo() async throws {
        let loop = SharedBox<UVRunLoop?>(nil)
        await #expect(throws: Failure.self) {
            try await UVRunLoop.withThread { running in
                loop.value = running
                throw Failure()
            }
        }
        #expect(loop.value?.withEngine { $0.isClosed } == true)
    }

    @Test func cancellationReachesTheFunction() async throws {
        let task = Task {
            try await UVRunLoop.withThread { loop in try await loop.sleep(for: .seconds(1_000)) }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func functionKeepsTheCallersIsolation() async throws {
        try await Holder().useThread()
    }

    @Test func stackThatCannotBeIsRefused() async throws {
        let error = await #expect(throws: RunLoopError.self) {
            try await UVRunLoop.withThread(stackSize: 1) { _ in }
        }
        #expect(error?.code == .stackSizeNotPossible)
    }
}

/// An actor whose state is not `Sendable`, and reached from the function.
private actor Holder {
    private final class State { var count = 0 }

    private let state = State()

    func useThread() async throws {
        try await UVRunLoop.withThread { loop in
            state.count += 1
            try await loop.sleep(for: .microseconds(1))
            assertIsolated()
            state.count += 1
        }
        #expect(state.count == 2)
    }
}
