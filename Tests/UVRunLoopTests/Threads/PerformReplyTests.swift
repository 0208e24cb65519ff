import Testing

@testable import UVRunLoop

/// What a thread is told that waits for a request.
@Suite(.timeLimit(.minutes(15))) struct PerformReplyTests {
    @Test func aRequestThatIsCancelledAtItsLimitIsNotSaidToHaveBegun() {
        let isOver = Signal()
        let reply = PerformReply(blockWhoseReleaseWaits(for: isOver))
        let waiter = startThread {
            #expect(throws: UVRunLoop.PerformError.cancelled) {
                try reply.wait(until: monotonicNow() + 100_000_000) {}
            }
            isOver.send()
        }
        // Releases the block while the limit passes.
        reply.giveUp(.cancelled)
        waiter.join()
    }
}

private func blockWhoseReleaseWaits(for signal: Signal) -> @Sendable () -> Void {
    let end = Farewell { signal.wait() }
    return { withExtendedLifetime(end) {} }
}
