import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Bytes in both directions, and flow control.
@Suite(.timeLimit(.minutes(15))) struct SocketTransferTests {
    /// A loop's port and the other end of its connection.
    private func withConnection(
        _ handler: @escaping (SocketPort, SocketPort.Event) -> Void,
        _ body: (UVRunLoop, SocketPort, Peer) throws -> Void
    ) throws {
        try withLoop { loop in
            let server = try Server(loop, handler: handler)
            let peer = try Peer(connectingTo: server.address)
            loop.run { !server.connections.isEmpty }
            try body(loop, server.connection, peer)
            server.close()
        }
    }

    @Test func whatArrivesInPiecesIsToldInPieces() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, _, peer in
            for (number, text) in ["a", "bc", "def"].enumerated() {
                peer.write(text)
                loop.run { log.count == number + 1 }
            }
            #expect(log.entries == ["received a", "received bc", "received def"])
        }
    }

    @Test func theMarksOfASendQueueAreThoseThatWereSet() throws {
        try withConnection { _, _ in
        } _: { _, port, _ in
            #expect((port.lowMark, port.highMark) == (32 << 10, 64 << 10))
            #expect(port.maximumQueuedBytes == 64 << 20)
            (port.lowMark, port.highMark) = (-1, 7)
            port.maximumQueuedBytes = 8 << 20
            #expect((port.lowMark, port.highMark) == (0, 7))
            #expect(port.maximumQueuedBytes == 8 << 20)
        }
    }

    @Test func eachPassServesOneRead() throws {
        let log = EventLog()
        try withConnection { _, event in
            if case .received(let bytes) = event { log.note("received \(bytes.count > 0)") }
        } _: { loop, _, peer in
            peer.write(sampleBytes(200_000))
            var results: [UVRunLoop.RunResult] = []
            for _ in 0..<3 {
                // The kernel of a busy machine may pass the bytes on a little later.
                results.append(loop.run(for: .seconds(60), returnAfterSourceHandled: true))
            }
            #expect(results == [.handledSource, .handledSource, .handledSource])
            #expect(log.count == 3)
        }
    }

    @Test func whatIsSentArrivesInOrderAndWhole() throws {
        let sizes = [1, 10, 100_000, 3, 5_000_000, 65_536, 7]
        try withConnection { _, _ in
        } _: { loop, port, peer in
            let expected = sizes.flatMap(sampleBytes)
            for size in sizes { #expect(port.send(sampleBytes(size))) }
            #expect(port.queuedBytes > 0)
            let received = Guarded<[UInt8]>([])
            let reader = Reader(peer, count: expected.count) { bytes in
                received.withLock { $0 = bytes }
                loop.stop()
            }
            loop.run { port.queuedBytes == 0 }
            reader.join()
            let isWhole = received.withLock { $0 } == expected
            #expect(isWhole)
        }
    }

    @Test func megabytesGoBothWaysAtATimeUnderBackPressure() throws {
        let count = 8 << 20
        let echoed = Guarded<[UInt8]>([])
        try withConnection { port, event in
            switch event {
            case .received(let bytes):
                port.send(bytes)
                if port.isAboveHighMark { port.pauseReading() }
            case .drained: port.resumeReading()
            case .ended: port.endSending()
            default: break
            }
        } _: { loop, port, peer in
            port.highMark = 200_000
            port.lowMark = 50_000
            let writer = startUncheckedThread {
                peer.write(sampleBytes(count))
                peer.endSending()
            }
            let reader = Reader(peer, count: count) { bytes in echoed.withLock { $0 = bytes } }
            // At most the mark and one read.
            loop.run {
                #expect(port.queuedBytes <= 200_000 + 65_536)
                return !port.isValid
            }
            writer.join()
            reader.join()
            let isWhole = echoed.withLock { $0 } == sampleBytes(count)
            #expect(isWhole)
            #expect(!port.isValid)
        }
    }

    @Test func roomInTheQueueIsToldOnce() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            (port.highMark, port.lowMark) = (1000, 100)
            // More than the kernel may still take without the peer's reading.
            while port.queuedBytes < 1_000_000 { port.send(sampleBytes(500_000)) }
            #expect(loop.run(for: .milliseconds(5)) == .timedOut)
            #expect(log.entries == [])
            let rest = port.queuedBytes
            let reader = Reader(peer, count: nil) { _ in }
            loop.run { log.count > 0 }
            #expect(rest > 1000 && !port.isAboveHighMark)
            loop.run { port.queuedBytes == 0 }
            port.send(sampleBytes(900))
            loop.run(for: .milliseconds(5))
            #expect(log.entries == ["drained"])
            port.invalidate()
            reader.join()
        }
    }

    @Test func aQueueThatGrowsPastItsLimitEndsTheConnection() throws {
        let log = EventLog()
        try withConnection { port, event in
            log.note(event)
            log.note("valid: \(port.isValid)")
        } _: { loop, port, peer in
            port.maximumQueuedBytes = 100_000
            var taken = 0
            while port.send(sampleBytes(30_000)) { taken += 1 }
            #expect(taken > 3)
            #expect(!port.send([1]))
            #expect(port.queuedBytes == 0)
            #expect(log.entries == [])
            loop.run { log.count == 2 }
            #expect(log.entries == ["failed: too much waits to be sent", "valid: false"])
            _ = peer.readToTheEnd()
        }
    }

    @Test func threadsMaySendAtTheSameTime() throws {
        try withConnection { _, _ in
        } _: { loop, port, peer in
            let threads = (0..<4).map { number in
                startUncheckedThread {
                    let block = [UInt8](repeating: UInt8(number), count: 10_000)
                    for _ in 0..<50 { port.send(block) }
                }
            }
            let received = Guarded<[UInt8]>([])
            let reader = Reader(peer, count: 2_000_000) { bytes in
                received.withLock { $0 = bytes }
                loop.stop()
            }
            loop.run(for: .seconds(60))
            threads.forEach { $0.join() }
            reader.join()
            let all = received.withLock { $0 }
            let isMixed = stride(from: 0, to: all.count, by: 10_000).contains { start in
                Set(all[start..<start + 10_000]).count != 1
            }
            #expect(all.count == 2_000_000 && !isMixed)
        }
    }

    @Test func nothingIsReadWhileReadingIsPaused() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            port.pauseReading()
            peer.write("later")
            let result = loop.run(for: .milliseconds(10), returnAfterSourceHandled: true)
            #expect(result == .timedOut && log.entries == [])
            port.resumeReading()
            loop.run { log.count == 1 }
            #expect(log.entries == ["received later"])
        }
    }

    @Test func anotherThreadMayPauseAndResume() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
            if log.count == 2 { UVRunLoop.current.stop() }
        } _: { loop, port, peer in
            port.pauseReading()
            peer.write("a")
            let helper = startUncheckedThread {
                awaitSleep(of: loop)
                log.note("resumed")
                port.resumeReading()
            }
            loop.run(for: .seconds(60))
            helper.join()
            #expect(log.entries == ["resumed", "received a"])
        }
    }
}
