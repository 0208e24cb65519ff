import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Threads that are told to stop while their connections are being drained.
@Suite(.timeLimit(.minutes(15))) struct SocketStopTests {
    /// A connection of a thread, with more queued than the kernel accepts.
    private struct Sending {
        let thread: UVRunLoop.Thread
        let port: SocketPort
        let peer: Peer
        let log = EventLog()
        let bytes: [UInt8]

        init(_ count: Int = 8 << 20, forMode mode: UVRunLoop.Mode = .default) throws {
            let listener = try PlainListener(at: .ipv4Loopback(port: 0))
            thread = try UVRunLoop.Thread()
            let (loop, log) = (thread.runLoop, log)
            port = try SocketPort(
                connectingTo: listener.address,
                sendableHandler: { _, event in log.note(event) }
            )
            loop.add(port, forMode: mode)
            peer = listener.accept()
            bytes = sampleBytes(count)
            port.send(bytes)
        }

        /// Reads to the end, slowly at first.
        func startReading(_ body: @escaping ([UInt8], Peer.End) -> Void) -> RunningThread {
            let peer = peer
            return startUncheckedThread {
                let first = peer.read(1) ?? []
                usleep(2000)
                let (rest, end) = peer.readAll()
                peer.close()
                body(first + rest, end)
            }
        }
    }

    @Test func aStopDoesNotWaitForAConnectionThatHasFailed() throws {
        let sending = try Sending()
        let (port, peer) = (sending.port, sending.peer)
        // A task takes the bytes, and none waits: the failure is told after them.
        _ = port.bytes
        peer.write("held")
        while !port.stream.state.withLock({ $0.lifecycle.isHeld }) { usleep(1_000) }
        port.endSending()
        peer.reset()
        while port.queuedBytes > 0 { usleep(1_000) }
        #expect(port.isValid)
        sending.thread.stop()
        #expect(sending.thread.join(limit: .seconds(60)))
    }

    /// The event was on its way when another thread moved the connection to its loop.
    @Test func aConnectionThatHasMovedMeanwhileIsServedByTheLoopItHasLeft() throws {
        let sending = try Sending(1)
        withLoop(.uv) { _, _ in
            #expect(sending.port.link.loop === sending.thread.runLoop)
            let result = sending.port.stream.receive(port: sending.port, [])
            #expect(!result.hasMore)
        }
        sending.peer.close()
        sending.thread.stop(afterQueuedWork: false)
        sending.thread.join()
    }

    /// How the port is told to end sending.
    enum Ending: CaseIterable, Sendable {
        case endSending, invalidateWhenDrained
    }

    @Test(arguments: Ending.allCases)
    func aStopAfterQueuedWorkSendsWhatIsBeingDrained(ending: Ending) throws {
        let sending = try Sending(20 << 20)
        switch ending {
        case .endSending: sending.port.endSending()
        case .invalidateWhenDrained: sending.port.invalidateWhenDrained()
        }
        sending.thread.stop()
        let received = Guarded<([UInt8], Peer.End)>(([], .silence))
        let reader = sending.startReading { bytes, end in
            received.withLock { $0 = (bytes, end) }
        }
        sending.thread.join()
        sending.port.invalidate()
        reader.join()
        let (bytes, end) = received.withLock { $0 }
        let isWhole = bytes == sending.bytes
        #expect(isWhole && end == .end, "\(bytes.count) of \(sending.bytes.count)")
    }

    @Test func aDrainThatBeginsInTheLastPassIsAwaited() throws {
        let sending = try Sending()
        let port = sending.port
        let goOn = Guarded(false)
        sending.thread.runLoop.perform { while !goOn.withLock({ $0 }) { usleep(100) } }
        sending.thread.runLoop.perform {
            UVRunLoop.current.perform { port.invalidateWhenDrained() }
        }
        sending.thread.stop()
        goOn.withLock { $0 = true }
        let count = Guarded(0)
        let reader = sending.startReading { bytes, _ in count.withLock { $0 = bytes.count } }
        sending.thread.join()
        port.invalidate()
        reader.join()
        #expect(count.withLock { $0 } == sending.bytes.count)
    }

    @Test func aSecondStopEndsAWaitForAPeerThatNeverReads() throws {
        let sending = try Sending()
        sending.port.invalidateWhenDrained()
        sending.thread.stop()
        while !(sending.thread.isStopping && sending.thread.runLoop.isWaiting) { usleep(100) }
        #expect(sending.port.isValid)
        sending.thread.stop(afterQueuedWork: false)
        sending.thread.join()
        sending.port.invalidate()
        #expect(sending.peer.readAll().end == .reset)
    }

    @Test func aStopWithALimitEndsAWaitForAPeerThatNeverReads() throws {
        let sending = try Sending()
        sending.port.invalidateWhenDrained()
        sending.thread.stop(limit: .milliseconds(50))
        sending.thread.join()
        sending.port.invalidate()
        #expect(sending.peer.readAll().end == .reset)
    }

    @Test func invalidatingThePortEndsTheWaitForIt() throws {
        let sending = try Sending()
        sending.port.invalidateWhenDrained()
        while sending.log.entries.isEmpty { usleep(100) }
        sending.thread.stop()
        while !(sending.thread.isStopping && sending.thread.runLoop.isWaiting) { usleep(100) }
        sending.port.invalidate()
        sending.thread.join()
        #expect(sending.log.entries == ["connected"])
    }

    @Test func takingThePortOutOfTheModeEndsTheWaitForIt() throws {
        let sending = try Sending()
        sending.port.invalidateWhenDrained()
        sending.thread.stop()
        while !(sending.thread.isStopping && sending.thread.runLoop.isWaiting) { usleep(100) }
        sending.thread.runLoop.remove(sending.port, forMode: .default)
        sending.thread.join()
        #expect(sending.port.isValid)
        sending.port.invalidate()
    }

    @Test func aPeerThatIsGoneEndsTheWaitAndIsTold() throws {
        let sending = try Sending()
        sending.port.invalidateWhenDrained()
        sending.thread.stop()
        sending.peer.reset()
        sending.thread.join()
        #expect(!sending.port.isValid)
        let expected = ["connected", "failed: the peer dropped the connection"]
        #expect(sending.log.entries.filter { $0 != "drained" } == expected)
    }

    @Test func whatIsOnlyQueuedOrInAnotherModeIsNotAwaited() throws {
        let queued = try Sending()
        let elsewhere = try Sending(forMode: UVRunLoop.Mode("other"))
        elsewhere.port.invalidateWhenDrained()
        for sending in [queued, elsewhere] {
            sending.thread.stop()
            sending.thread.join()
            #expect(sending.port.isValid)
            sending.port.invalidate()
        }
    }
}
