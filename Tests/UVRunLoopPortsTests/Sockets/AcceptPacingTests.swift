import Testing
import UVRunLoop

@testable import UVRunLoopPorts

/// The decision when a listener accepts, without a socket.
@Suite(.timeLimit(.minutes(15))) struct AcceptPacingTests {
    @Test func aListenerAcceptsAtFirst() {
        let pacing = AcceptPacing()
        #expect(pacing.isAccepting)
        #expect(pacing.retry == nil)
    }

    @Test func whatIsFullWaitsForAConnectionToCloseAndForNoDate() {
        var pacing = AcceptPacing()
        pacing.didFillUp()
        #expect(!pacing.isAccepting)
        #expect(pacing.retry == nil)
        pacing.resume()
        #expect(pacing.isAccepting)
    }

    @Test func whatIsShortOfDescriptorsTriesAgainATenthOfASecondLater() {
        var pacing = AcceptPacing()
        let now = UVRunLoop.Instant.now
        pacing.didRunShort(at: now)
        #expect(!pacing.isAccepting)
        #expect(pacing.retry == now + .milliseconds(100))
        // Still short of resources: the pause restarts.
        pacing.resume()
        pacing.didRunShort(at: now + .milliseconds(130))
        #expect(pacing.retry == now + .milliseconds(230))
        pacing.resume()
        #expect(pacing.isAccepting)
        #expect(pacing.retry == nil)
    }

    @Test func theLatestReasonCounts() {
        var pacing = AcceptPacing()
        pacing.didRunShort(at: .now)
        pacing.didFillUp()
        #expect(!pacing.isAccepting)
        #expect(pacing.retry == nil)
        let now = UVRunLoop.Instant.now
        pacing.didRunShort(at: now)
        #expect(pacing.retry == now + AcceptPacing.pause)
    }
}
