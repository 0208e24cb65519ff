import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

/// Sources that are in no mode when the thread of their loop ends.
@Suite(.timeLimit(.minutes(15))) struct SourceEndTests {
    /// Returns a source of a thread that has ended after libuv had done its part for the source.
    ///
    /// - Parameter make: Makes the source, on the thread; its events wait, because it is in no mode.
    private func source<Source: UVRunLoop.PortSource>(
        ofEndedThread make: @escaping @Sendable () throws -> Source
    ) throws -> Source {
        let thread = try UVRunLoop.Thread(name: "ends")
        let source = try thread.runLoop.performAndWait {
            let source = try make()
            let keeper = UVRunLoop.Source { _ in }
            UVRunLoop.current.add(keeper, forMode: .default)
            UVRunLoop.current.run(mode: .default, for: .milliseconds(100))
            keeper.invalidate()
            return source
        }
        thread.stop()
        thread.join()
        return source
    }

    @Test func workThatIsDoneEndsWithItsLoop() throws {
        let source = try source {
            try UVRunLoop.Offload {
                42
            } handler: { _, _ in
            }
        }
        #expect(!source.isValid)
    }

    @Test func aLookupThatIsDoneEndsWithItsLoop() throws {
        let source = try source {
            try UVRunLoop.Resolver(host: "127.0.0.1", service: "80") { _, _ in }
        }
        #expect(!source.isValid)
    }

    @Test func theEventsOfAChildThatHasEndedEndWithItsLoop() async throws {
        let child = try source { try ChildProcess(shell("echo hello; exit 3")) { _, _ in } }
        #expect(!child.isValid)
        for await _ in child.events {}
        // Its status was not delivered. What waits for exit tests spins while there is a zombie.
        #expect(awaitEnd(of: child.process) == 3)
    }

    /// A handle that libuv no longer uses is kept for its source, and no longer.
    @Test func aSourceThatIsReleasedIsKeptByNoLoop() throws {
        final class Capture {}
        try withLoop { loop in
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            weak var held: Capture?
            do {
                let capture = Capture()
                held = capture
                let source = try UVRunLoop.Offload {
                    42
                } handler: { _, _ in
                    withExtendedLifetime(capture) {}
                }
                loop.run(mode: .default, for: .milliseconds(100))
                #expect(source.isValid)
            }
            #expect(held == nil)
            keeper.invalidate()
        }
    }
}
