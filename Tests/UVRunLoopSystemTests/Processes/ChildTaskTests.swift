import Glibc
import TestSupport
import Testing
import UVRunLoop

@testable import UVRunLoopSystem

/// Child processes whose events tasks take.
@Suite(.timeLimit(.minutes(15))) struct ChildTaskTests {
    @Test func aTaskTakesTheEvents() async throws {
        try await UVRunLoop.withThread { loop in
            let child = try await loop.spawn(.init("cat", input: .pipe))
            try child.write(Array("hello".utf8))
            child.endInput()
            var output: [UInt8] = []
            var status: UVRunLoop.ChildSource.ExitStatus?
            for await event in child.events {
                if case .output(let bytes) = event { output += bytes }
                if case .exited(let end) = event { status = end }
            }
            #expect(output == Array("hello".utf8))
            #expect(status == .exited(code: 0))
            #expect(!child.isValid)
        }
    }

    @Test func aTaskThatTakesNothingHoldsTheChildBack() async throws {
        try await UVRunLoop.withThread { loop in
            let child = try await loop.spawn(.init("head", ["-c", "9000000", "/dev/zero"]))
            var count = 0
            for await event in child.events {
                if case .output(let bytes) = event { count += bytes.count }
            }
            #expect(count == 9_000_000)
        }
    }

    @Test func aProgramThatDoesNotExistThrows() async throws {
        try await UVRunLoop.withThread { loop in
            await #expect(throws: UVRunLoop.SystemError.self) {
                try await loop.spawn(.init("/no/such/program"))
            }
            return
        }
    }

    @Test func invalidatingEndsTheSequence() async throws {
        try await UVRunLoop.withThread { loop in
            let child = try await loop.spawn(.init("sleep", ["600"]))
            let task = Task {
                var iterator = child.events.makeAsyncIterator()
                return await iterator.next()
            }
            child.invalidate()
            #expect(await task.value == nil)
            kill(child.process, SIGKILL)
            #expect(awaitEnd(of: child.process) == -SIGKILL)
        }
    }

    /// The thread of the loop ends before a pass could collect the status.
    @Test func aChildThatNobodyGetsIsNoZombieAfterTheLoop() throws {
        let process = Guarded<CInt>(0)
        try onAnotherThread {
            let child = try ChildProcess(.init("sleep", ["600"])) { _, _ in }
            UVRunLoop.current.add(child, forMode: .default)
            process.withLock { $0 = child.process }
            child.discard()
        }
        #expect(waitpid(process.withLock { $0 }, nil, WNOHANG) == -1 && errno == ECHILD)
    }
}
