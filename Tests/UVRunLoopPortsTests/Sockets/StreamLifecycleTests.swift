import Testing
import UVRunLoop

@testable import UVRunLoopPorts

/// The state machine of a connection, without a socket.
@Suite(.timeLimit(.minutes(15))) struct StreamLifecycleTests {
    // MARK: Connecting

    @Test(arguments: [
        (StreamLifecycle.Phase.retrying, false, false), (.connecting, false, false),
        (.connected, false, true), (.open, true, true),
    ])
    func aConnectionIsReadWhenTheHandlerKnowsOfItAndSentToAsSoonAsItIsThere(
        phase: StreamLifecycle.Phase,
        reads: Bool,
        sends: Bool
    ) {
        let lifecycle = StreamLifecycle(phase)
        #expect(lifecycle.reads == reads)
        #expect(lifecycle.sends == sends)
        // Bytes that are sent earlier are queued.
        #expect(lifecycle.accepts)
        #expect(!lifecycle.isOver)
        #expect(!lifecycle.shouldShutDown(OutputQueue()))
    }

    @Test(
        arguments: [
            (StreamLifecycle.Phase.retrying, [], []), (.connecting, .writable, .writable),
            (.connected, [], .writable), (.open, .readable, [.readable, .writable]),
        ] as [(StreamLifecycle.Phase, StreamLifecycle.Events, StreamLifecycle.Events)]
    )
    func theKernelIsAskedForWhatThePhaseIsAbout(
        phase: StreamLifecycle.Phase,
        withNothingQueued: StreamLifecycle.Events,
        withSomething: StreamLifecycle.Events
    ) {
        let lifecycle = StreamLifecycle(phase)
        #expect(lifecycle.interest(OutputQueue()) == withNothingQueued)
        #expect(lifecycle.interest(queue(1)) == withSomething)
    }

    @Test func onlyAnOpenConnectionHasNothingToDoOnItsOwn() {
        for phase in [StreamLifecycle.Phase.retrying, .connecting, .connected] {
            #expect(StreamLifecycle(phase).isReady(OutputQueue()))
        }
        #expect(!StreamLifecycle(.open).isReady(OutputQueue()))
    }

    // MARK: Receiving

    @Test func nothingIsReadWhilePausedNorAfterThePeersEnd() {
        var lifecycle = StreamLifecycle(.open)
        lifecycle.isPaused = true
        #expect(!lifecycle.reads)
        #expect(lifecycle.interest(OutputQueue()) == [])
        lifecycle.isPaused = false
        #expect(lifecycle.reads)
        lifecycle.peerDidEnd = true
        #expect(!lifecycle.reads)
        // The other direction goes on.
        #expect(lifecycle.accepts)
        #expect(lifecycle.interest(queue(1)) == .writable)
        #expect(!lifecycle.isOver)
    }

    @Test func whatAPeerThatIsGoneLeftIsReadWithoutTheKernelsWord() {
        var lifecycle = StreamLifecycle(.open)
        lifecycle.isHungUp = true
        #expect(lifecycle.readsToTheEnd)
        #expect(lifecycle.isReady(OutputQueue()))
        // A pause applies even then.
        lifecycle.isPaused = true
        #expect(!lifecycle.readsToTheEnd)
        #expect(!lifecycle.isReady(OutputQueue()))
        lifecycle.isPaused = false
        lifecycle.peerDidEnd = true
        #expect(!lifecycle.readsToTheEnd)
        #expect(!lifecycle.isReady(OutputQueue()))
    }

    @Test func aFailureEndsSendingAtOnceAndReadingWhenAllIsRead() {
        var lifecycle = StreamLifecycle(.open)
        lifecycle.failure = UVRunLoop.SocketError(.connectionReset)
        #expect(!lifecycle.accepts)
        #expect(!lifecycle.sends)
        #expect(lifecycle.readsToTheEnd)
        #expect(lifecycle.interest(queue(1)) == .readable)
        lifecycle.peerDidEnd = true
        #expect(!lifecycle.readsToTheEnd)
        // The failure is still to be reported.
        #expect(lifecycle.isReady(OutputQueue()))
    }

    @Test func aQueueForAPeerThatIsGoneIsSentWithoutTheKernelsWord() {
        var lifecycle = StreamLifecycle(.open)
        lifecycle.isHungUp = true
        lifecycle.isPaused = true
        #expect(!lifecycle.isReady(OutputQueue()))
        #expect(lifecycle.isReady(queue(1)))
        lifecycle.failure = UVRunLoop.SocketError(.connectionReset)
        #expect(lifecycle.isReady(OutputQueue()))
    }

    @Test func onlyAnEndWithoutAFailureOrWithABrokenPipeIsGenuine() {
        var lifecycle = StreamLifecycle(.open)
        #expect(lifecycle.isEndGenuine)
        lifecycle.failure = UVRunLoop.SocketError(.connectionReset)
        #expect(!lifecycle.isEndGenuine)
        lifecycle.failure = UVRunLoop.SocketError(.brokenPipe)
        #expect(lifecycle.isEndGenuine)
    }

    // MARK: Closing

    @Test func theEndIsToldToThePeerOnceWhenAllIsSent() {
        var lifecycle = StreamLifecycle(.open)
        #expect(!lifecycle.isFinishing)
        lifecycle.end(closing: false)
        #expect(lifecycle.isFinishing)
        #expect(!lifecycle.accepts)
        #expect(lifecycle.sends)
        #expect(lifecycle.reads)
        #expect(!lifecycle.shouldShutDown(queue(1)))
        #expect(lifecycle.shouldShutDown(OutputQueue()))
        lifecycle.didShutDown()
        #expect(!lifecycle.isFinishing)
        #expect(!lifecycle.shouldShutDown(OutputQueue()))
        #expect(!lifecycle.sends)
        #expect(!lifecycle.isOver)
        lifecycle.peerDidEnd = true
        #expect(lifecycle.isOver)
        #expect(lifecycle.isReady(OutputQueue()))
    }

    @Test func theEndWaitsForTheConnectionToBeThere() {
        for phase in [StreamLifecycle.Phase.retrying, .connecting] {
            var lifecycle = StreamLifecycle(phase)
            lifecycle.end(closing: true)
            #expect(!lifecycle.shouldShutDown(OutputQueue()))
            lifecycle.phase = .connected
            #expect(lifecycle.shouldShutDown(OutputQueue()))
        }
    }

    @Test func closingWhenDrainedReadsNoMoreAndDoesNotWaitForThePeer() {
        var lifecycle = StreamLifecycle(.open)
        lifecycle.end(closing: true)
        #expect(!lifecycle.reads)
        #expect(lifecycle.interest(queue(1)) == .writable)
        #expect(!lifecycle.isOver)
        lifecycle.didShutDown()
        #expect(lifecycle.isOver)
    }

    @Test func anEndMayBecomeAClosingAndIsNotTakenBack() {
        var lifecycle = StreamLifecycle(.open)
        lifecycle.end(closing: false)
        lifecycle.didShutDown()
        lifecycle.end(closing: true)
        #expect(lifecycle.isOver)
        lifecycle.end(closing: false)
        #expect(lifecycle.isOver)
        #expect(!lifecycle.accepts)
    }

    @Test func aConnectionThatFailedIsNotShutDown() {
        var lifecycle = StreamLifecycle(.open)
        lifecycle.end(closing: true)
        lifecycle.failure = UVRunLoop.SocketError(.brokenPipe)
        #expect(!lifecycle.shouldShutDown(OutputQueue()))
        #expect(!lifecycle.isOver)
        #expect(lifecycle.isReady(OutputQueue()))
    }
}

private func queue(_ count: Int) -> OutputQueue {
    var queue = OutputQueue()
    queue.append([UInt8](repeating: 0, count: count)[...])
    return queue
}
