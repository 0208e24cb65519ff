import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopSystem

/// Sources that are in no mode when the thread of their loop ends.
@Suite(.timeLimit(.minutes(15))) struct SourceEndTests {
    // A source of a thread that has ended after libuv had done its part for the source, which the
    // body makes on that thread. Its events wait, because it is in no mode.
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
        let child = try source { try ChildProcess(shell("exit 3")) { _, _ in } }
        #expect(!child.isValid)
        for await _ in child.events {}
        // Its status was not delivered. What waits for exit tests spins while there is a zombie.
        #expect(awaitEnd(of: child.process) == 3)
    }

    /// A handle that libuv no longer uses is kept for its source, and no longer.
    @Test func noHandleIsKeptOfASourceThatIsReleased() throws {
        try withLoop { loop in
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            let host = try #require(loop.handleHost())
            do {
                let source = try UVRunLoop.Offload {
                    42
                } handler: { _, _ in
                }
                while host.finished.isEmpty { loop.run(mode: .default, for: .milliseconds(1)) }
                #expect(source.isValid)
            }
            #expect(host.finished.isEmpty)
            keeper.invalidate()
        }
    }

    /// The handle is closed after its source was released by another thread, of which something
    /// still holds the link.
    @Test func noHandleIsKeptOfASourceThatAnotherThreadReleases() throws {
        try withLoop { loop in
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            let host = try #require(loop.handleHost())
            let folder = TemporaryFolder()
            let source = SharedBox<UVRunLoop.FileWatch?>(nil)
            source.value = try UVRunLoop.FileWatch(folder.path) { _, _ in }
            let link = source.value?.link
            startThread { source.value = nil }.join()
            while !host.isEmpty { loop.run(mode: .default, for: .milliseconds(1)) }
            #expect(host.finished.isEmpty)
            keeper.invalidate()
            withExtendedLifetime(link) {}
        }
    }
}
