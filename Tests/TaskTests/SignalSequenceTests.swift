import Glibc
import Testing

@testable import UVRunLoop

/// The arrivals of a signal as a sequence.
@Suite(.timeLimit(.minutes(15))) struct SignalSequenceTests {
    @Test func signalsAreCountedFromTheInitialiserOn() async throws {
        let signal = SIGRTMIN_ + 7
        try await UVRunLoop.withThread { loop in
            let signals = try loop.signals(signal)
            for _ in 0..<5 { kill(getpid(), signal) }
            var iterator = signals.makeAsyncIterator()
            var count = 0
            while count < 5 { count += await iterator.next() ?? 5 }
            #expect(count == 5)
        }
    }

    /// The loop is busy when the signals arrive, and the sequence ends before they are served.
    @Test func signalsThatTheLoopHasNotServedAreTheLastElement() async throws {
        let signal = SIGRTMIN_ + 10
        try await UVRunLoop.withThread { loop in
            let (isBusy, mayGoOn, signals) = (Signal(), Signal(), try loop.signals(signal))
            async let counts = signals.reduce(into: []) { $0.append($1) }
            loop.perform {
                letThrough(signal)
                // Sent to the thread itself, each has arrived when this returns.
                for _ in 0..<3 { raise(signal) }
                isBusy.send()
                mayGoOn.wait()
            }
            isBusy.waitInTask()
            signals.invalidate()
            mayGoOn.send()
            let found = await counts
            #expect(found == [3])
        }
    }

    /// The loop's thread ends before it serves them.
    @Test func signalsThatArriveAtTheEndOfTheLoopAreTheLastElement() throws {
        let signal = SIGRTMIN_ + 11
        let signals = SharedBox<UVRunLoop.Signals?>(nil)
        startThread {
            letThrough(signal)
            signals.value = try? UVRunLoop.current.signals(signal)
            for _ in 0..<3 { raise(signal) }
        }.join()
        let sequence = try #require(signals.value)
        try runTask { _ in
            #expect(await first(of: sequence) == 3)
            #expect(await first(of: sequence) == nil)
        }
    }

    @Test func signalThatCannotBeWatchedIsRefused() async throws {
        try await UVRunLoop.withThread { loop in
            let error = #expect(throws: RunLoopError.self) { try loop.signals(SIGKILL) }
            #expect(error?.code == .signalNotWatchable)
        }
    }
}
