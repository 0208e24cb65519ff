import Testing
import UVRunLoop

@testable import UVRunLoopPorts

/// How far a connection has come, without a socket.
@Suite(.timeLimit(.minutes(15))) struct StreamCourseTests {
    // MARK: Connecting

    @Test(arguments: [
        (StreamCourse.Phase.inLine, false, false), (.connecting, false, false),
        (.connected, false, true), (.open, true, true),
    ])
    func aConnectionIsReadWhenTheHandlerKnowsOfItAndSentToAsSoonAsItIsThere(
        phase: StreamCourse.Phase,
        reads: Bool,
        sends: Bool
    ) {
        let course = StreamCourse(phase)
        #expect(course.reads == reads)
        #expect(course.sends == sends)
        // What is sent earlier is queued.
        #expect(course.accepts)
        #expect(!course.isOver)
        #expect(!course.isToShutDown(OutputQueue()))
    }

    @Test(
        arguments: [
            (StreamCourse.Phase.inLine, [], []), (.connecting, .writable, .writable),
            (.connected, [], .writable), (.open, .readable, [.readable, .writable]),
        ] as [(StreamCourse.Phase, StreamCourse.Events, StreamCourse.Events)]
    )
    func theKernelIsAskedForWhatThePhaseIsAbout(
        phase: StreamCourse.Phase,
        withNothingQueued: StreamCourse.Events,
        withSomething: StreamCourse.Events
    ) {
        let course = StreamCourse(phase)
        #expect(course.wanted(OutputQueue()) == withNothingQueued)
        #expect(course.wanted(queue(1)) == withSomething)
    }

    @Test func onlyAnOpenConnectionHasNothingToDoOnItsOwn() {
        for phase in [StreamCourse.Phase.inLine, .connecting, .connected] {
            #expect(StreamCourse(phase).isReady(OutputQueue()))
        }
        #expect(!StreamCourse(.open).isReady(OutputQueue()))
    }

    // MARK: Input

    @Test func nothingIsReadWhilePausedNorAfterThePeersEnd() {
        var course = StreamCourse(.open)
        course.isPaused = true
        #expect(!course.reads)
        #expect(course.wanted(OutputQueue()) == [])
        course.isPaused = false
        #expect(course.reads)
        course.peerDidEnd = true
        #expect(!course.reads)
        // The other direction goes on.
        #expect(course.accepts)
        #expect(course.wanted(queue(1)) == .writable)
        #expect(!course.isOver)
    }

    @Test func whatAPeerThatIsGoneLeftIsReadWithoutTheKernelsWord() {
        var course = StreamCourse(.open)
        course.isHungUp = true
        #expect(course.readsToTheEnd)
        #expect(course.isReady(OutputQueue()))
        // A pause holds even then.
        course.isPaused = true
        #expect(!course.readsToTheEnd)
        #expect(!course.isReady(OutputQueue()))
        course.isPaused = false
        course.peerDidEnd = true
        #expect(!course.readsToTheEnd)
        #expect(!course.isReady(OutputQueue()))
    }

    @Test func aFailureEndsSendingAtOnceAndReadingWhenAllIsRead() {
        var course = StreamCourse(.open)
        course.failure = UVRunLoop.SocketError(.connectionReset)
        #expect(!course.accepts)
        #expect(!course.sends)
        #expect(course.readsToTheEnd)
        #expect(course.wanted(queue(1)) == .readable)
        course.peerDidEnd = true
        #expect(!course.readsToTheEnd)
        // The failure itself is still to be told.
        #expect(course.isReady(OutputQueue()))
    }

    @Test func aQueueForAPeerThatIsGoneIsSentWithoutTheKernelsWord() {
        var course = StreamCourse(.open)
        course.isHungUp = true
        course.isPaused = true
        #expect(!course.isReady(OutputQueue()))
        #expect(course.isReady(queue(1)))
        course.failure = UVRunLoop.SocketError(.connectionReset)
        #expect(course.isReady(OutputQueue()))
    }

    @Test func onlyAnEndWithoutAFailureOrWithABrokenPipeIsGenuine() {
        var course = StreamCourse(.open)
        #expect(course.isEndGenuine)
        course.failure = UVRunLoop.SocketError(.connectionReset)
        #expect(!course.isEndGenuine)
        course.failure = UVRunLoop.SocketError(.brokenPipe)
        #expect(course.isEndGenuine)
    }

    // MARK: The end

    @Test func theEndIsToldToThePeerOnceWhenAllIsSent() {
        var course = StreamCourse(.open)
        #expect(!course.isFinishing)
        course.noteEnd(closing: false)
        #expect(course.isFinishing)
        #expect(!course.accepts)
        #expect(course.sends)
        #expect(course.reads)
        #expect(!course.isToShutDown(queue(1)))
        #expect(course.isToShutDown(OutputQueue()))
        course.didShutDown()
        #expect(!course.isFinishing)
        #expect(!course.isToShutDown(OutputQueue()))
        #expect(!course.sends)
        #expect(!course.isOver)
        course.peerDidEnd = true
        #expect(course.isOver)
        #expect(course.isReady(OutputQueue()))
    }

    @Test func theEndWaitsForTheConnectionToBeThere() {
        for phase in [StreamCourse.Phase.inLine, .connecting] {
            var course = StreamCourse(phase)
            course.noteEnd(closing: true)
            #expect(!course.isToShutDown(OutputQueue()))
            course.phase = .connected
            #expect(course.isToShutDown(OutputQueue()))
        }
    }

    @Test func closingWhenDrainedReadsNoMoreAndDoesNotWaitForThePeer() {
        var course = StreamCourse(.open)
        course.noteEnd(closing: true)
        #expect(!course.reads)
        #expect(course.wanted(queue(1)) == .writable)
        #expect(!course.isOver)
        course.didShutDown()
        #expect(course.isOver)
    }

    @Test func anEndMayBecomeAClosingAndIsNotTakenBack() {
        var course = StreamCourse(.open)
        course.noteEnd(closing: false)
        course.didShutDown()
        course.noteEnd(closing: true)
        #expect(course.isOver)
        course.noteEnd(closing: false)
        #expect(course.isOver)
        #expect(!course.accepts)
    }

    @Test func aConnectionThatFailedIsNotShutDown() {
        var course = StreamCourse(.open)
        course.noteEnd(closing: true)
        course.failure = UVRunLoop.SocketError(.brokenPipe)
        #expect(!course.isToShutDown(OutputQueue()))
        #expect(!course.isOver)
        #expect(course.isReady(OutputQueue()))
    }
}

private func queue(_ count: Int) -> OutputQueue {
    var queue = OutputQueue()
    queue.append([UInt8](repeating: 0, count: count)[...])
    return queue
}
