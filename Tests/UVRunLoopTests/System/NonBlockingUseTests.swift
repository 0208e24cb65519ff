import Synchronization
import TestSupport
import Testing

@testable import UVRunLoop

/// How long a descriptor stays non-blocking for a sequence.
@Suite(.timeLimit(.minutes(15))) struct NonBlockingUseTests {
    @Test func theFirstEndGivesTheDescriptorBack() throws {
        let pipe = Pipe()
        let use = try NonBlockingUse(of: pipe.readEnd)
        let other = try NonBlockingUse(of: pipe.readEnd)
        #expect(isNonBlocking(pipe.readEnd))
        use.end()
        use.end()
        #expect(isNonBlocking(pipe.readEnd))
        other.end()
        #expect(!isNonBlocking(pipe.readEnd))
    }

    /// The loop's thread ends a use by releasing the handler, the owner by `invalidate()`.
    @Test func theDescriptorIsBlockingWhenEitherOfTwoEndsHasReturned() throws {
        let pipe = Pipe()
        for _ in 0..<1_000 {
            let race = EndRace(try NonBlockingUse(of: pipe.readEnd), readEnd: pipe.readEnd)
            let thread = startThread { race.end() }
            race.end()
            thread.join()
            #expect(race.earlyReturns.load(ordering: .relaxed) == 0)
        }
    }
}

/// Two threads that end one use at the same time.
private final class EndRace: Sendable {
    private let use: NonBlockingUse
    private let readEnd: CInt
    private let awaited = Atomic<Int>(2)
    let earlyReturns = Atomic<Int>(0)

    init(_ use: NonBlockingUse, readEnd: CInt) {
        self.use = use
        self.readEnd = readEnd
    }

    func end() {
        awaited.subtract(1, ordering: .acquiringAndReleasing)
        while awaited.load(ordering: .acquiring) > 0 {}
        use.end()
        if isNonBlocking(readEnd) { earlyReturns.add(1, ordering: .relaxed) }
    }
}
