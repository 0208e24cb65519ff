import Testing

@testable import UVRunLoop

/// The reply to a thread that waits for a request.
@Suite(.timeLimit(.minutes(15))) struct PerformReplyTests {
    @Test func aRequestThatIsCancelledAtItsLimitIsNotSaidToHaveBegun() {
        let waits = SharedBox<(@Sendable () -> Void)?>(nil)
        let reply = PerformReply(block(whoseReleaseDoes: { waits.value?() }))
        let hasWaited = Counter()
        waits.value = {
            onAnotherThread {
                #expect(throws: UVRunLoop.PerformError.cancelled) {
                    try reply.wait(until: monotonicNow() + 20_000_000) {}
                }
                hasWaited.add()
            }
        }
        // Releases the block, which lasts until the limit has passed or the wait is over.
        reply.giveUp(.cancelled)
        waits.value = nil
        #expect(hasWaited.value == 1)
    }
}

/// A block whose release does something.
private func block(
    whoseReleaseDoes action: @escaping @Sendable () -> Void
) -> @Sendable () -> Void {
    let end = Farewell(action)
    return { withExtendedLifetime(end) {} }
}
