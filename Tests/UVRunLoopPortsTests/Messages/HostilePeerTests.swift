import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Misbehaving peers: each loses its own connection, without another effect.
@Suite(.timeLimit(.minutes(15))) struct HostilePeerTests {
    /// Runs a body against a server, then checks that the server still works.
    private func withServer(
        limits: MessagePort.Limits = .init(),
        acceptPeer: MessagePort.PeerPolicy? = nil,
        _ body: (Place, EventLog) throws -> Void
    ) throws {
        let (place, log) = (Place(), EventLog())
        let server = try PortServer(place, limits: limits, acceptPeer: acceptPeer) { _, message in
            log.note("\(message.id)")
            return message.data
        }
        try body(place, log)
        try onAnotherThread {
            let reply = try place.remote().request([1, 2, 3], id: 1_000)
            #expect(reply == [1, 2, 3])
        }
        server.stop()
        #expect(log.entries.last == "1000")
    }

    @Test func bytesThatAreNoFrameCostTheConnection() throws {
        try withServer { place, log in
            for junk in [
                sampleBytes(24), [UInt8](repeating: 0, count: 100), Array("GET / HTTP".utf8),
            ] {
                let peer = try place.rawSocket()
                peer.write(junk + sampleBytes(24))
                #expect(peer.readFrame() == .refusal(.malformedFrame))
                #expect(peer.read() == [])
            }
            #expect(log.entries == [])
        }
    }

    @Test func whatCameBeforeAMalformedFrameIsDelivered() throws {
        try withServer { place, log in
            let peer = try place.rawSocket()
            peer.write(Frame.message(1, [1]).head() + Frame.message(2, []).head() + sampleBytes(24))
            #expect(peer.readFrame() == .refusal(.malformedFrame))
            #expect(log.entries == ["1", "2"])
        }
    }

    @Test func aReplyPortsNameThatIsNoNameCostsTheConnection() throws {
        try withServer { place, log in
            for name: [UInt8] in [[0xFF, 0xFE], [0x61, 0, 0x62]] {
                let peer = try place.rawSocket()
                peer.write(Frame.message(1, []).head())
                peer.write(Frame.request(1, 2, [1], replyName: name).head())
                peer.write(Frame.request(2, 3, []).head())
                #expect(peer.readFrame() == .refusal(.malformedFrame))
                #expect(peer.read() == [])
            }
            #expect(log.entries == ["1", "1"])
        }
    }

    @Test func aLieAboutTheLengthCostsTheConnection() throws {
        try withServer { place, log in
            for length in [(16 << 20) + 1, UInt32(1) << 31, .max] {
                let peer = try place.rawSocket()
                var header = FrameHeader(kind: .message)
                header.payloadLength = length
                peer.write(header.encoded)
                #expect(peer.readFrame() == .refusal(.messageTooLarge))
                #expect(peer.read() == [])
            }
            #expect(log.entries == [])
        }
    }

    @Test func bytesThatComeOneByOneAreAMessageLikeAnyOther() throws {
        try withServer { place, log in
            let peer = try place.rawSocket()
            for byte in Frame.request(5, 3, sampleBytes(300)).head() { peer.write([byte]) }
            #expect(peer.readFrame() == .reply(5, sampleBytes(300)))
            #expect(log.entries == ["3"])
        }
    }

    @Test func aFrameThatIsNotWholeInTimeCostsTheConnection() throws {
        var limits = MessagePort.Limits()
        limits.frameTimeLimit = .milliseconds(50)
        try withServer(limits: limits) { place, log in
            let slow = try place.rawSocket()
            let bytes = Frame.message(1, sampleBytes(100)).head()
            slow.write(Array(bytes.prefix(30)))
            let quick = try place.rawSocket()
            quick.write(Frame.message(2, []).head())
            // A connection that is idle between frames is kept.
            #expect(slow.read() == [])
            usleep(100_000)
            quick.write(Frame.request(1, 3, []).head())
            #expect(quick.readFrame() == .reply(1, []))
            #expect(log.entries == ["2", "3"])
        }
    }

    @Test func aPeerThatTakesNoRepliesIsGivenUpInTimeAndHoldsUpNobody() throws {
        var limits = MessagePort.Limits()
        limits.frameTimeLimit = .milliseconds(100)
        try withServer(limits: limits) { place, _ in
            let peer = try place.rawSocket()
            peer.write(Frame.request(1, 0, sampleBytes(2 << 20)).head())
            try onAnotherThread {
                let reply = try place.remote().request([7])
                #expect(reply == [7])
            }
            // While a reply is pending, no request is read; in the end the connection times out.
            var count: UInt64 = 2
            while peer.write(Frame.request(count, 0, sampleBytes(2 << 20)).head()), count < 50 {
                count += 1
            }
            #expect(count < 10)
        }
    }

    @Test func aPeerThatGoesInTheMiddleOfAFrameIsForgotten() throws {
        try withServer { place, log in
            let bytes = Frame.message(1, sampleBytes(200)).head()
            for length in 0..<bytes.count {
                let peer = try place.rawSocket()
                peer.write(Array(bytes.prefix(length)))
            }
            #expect(log.entries == [])
        }
    }

    @Test func aPeerThatGoesRightAfterItsMessagesLosesNone() throws {
        try withServer { place, log in
            do {
                let peer = try place.rawSocket()
                for id in 0..<200 {
                    // The replies cannot be delivered; later requests must not be affected.
                    let number = UInt64(id) + 1
                    peer.write(Frame.request(number, Int32(id), sampleBytes(300)).head())
                }
            }
            awaitCondition(pause: 1_000) { log.entries.count == 200 }
            #expect(log.entries == (0..<200).map(String.init))
        }
    }

    @Test func peersThatAreTooManyAreToldSo() throws {
        var limits = MessagePort.Limits()
        limits.maximumConnectionsPerUser = 3
        try withServer(limits: limits) { place, _ in
            do {
                let peers = try (0..<3).map { _ in try place.rawSocket() }
                for (number, peer) in peers.enumerated() {
                    peer.write(Frame.request(1, Int32(number), []).head())
                    #expect(peer.readFrame() == .reply(1, []))
                }
                let fourth = try place.rawSocket()
                #expect(fourth.readFrame() == .refusal(.tooManyConnections))
                try onAnotherThread {
                    let remote = try place.remote()
                    #expect(throws: MessagePortError.tooManyConnections) { try remote.request() }
                }
                // An optimised build would release the three after their last use.
                withExtendedLifetime(peers) {}
            }
            for _ in 0..<30_000 {
                let peer = try place.rawSocket()
                peer.write(Frame.request(1, 0, []).head())
                if peer.readFrame() == .reply(1, []) { return }
                usleep(1_000)
            }
            Issue.record("Nobody is let in again.")
        }
    }

    @Test func aPolicyMayRefuseThePeer() throws {
        let asked = EventLog()
        let policy: MessagePort.PeerPolicy = { peer in
            asked.note("\(peer.isSameUser)")
            return asked.entries.count > 1
        }
        try withServer(acceptPeer: policy) { place, _ in
            try onAnotherThread {
                let remote = try place.remote()
                #expect(throws: MessagePortError.peerNotPermitted) { try remote.request() }
            }
        }
        #expect(asked.entries == ["true", "true"])
    }

    @Test func theSenderMayRefuseTheServer() throws {
        try withServer { place, _ in
            #expect(throws: MessagePortError.peerNotPermitted) {
                try place.remote { $0.process != getpid() }
            }
        }
    }

    /// The second may come before the waiting thread has taken the first.
    @Test(arguments: [true, false])
    func ofTwoResponsesToARequestTheFirstCounts(isRefusedThen: Bool) throws {
        let place = Place()
        let listener = try place.rawListener()
        let second =
            isRefusedThen
            ? Frame(kind: .refusal, id: 5, number: 1) : Frame.reply(1, [8])
        let thread = startThread {
            guard let peer = try? listener.accept(), peer.readFrame() != nil else { return }
            peer.write(Frame.reply(1, [9]).head() + second.head())
            guard let next = peer.readFrame() else { return }
            peer.write(Frame.reply(next.number, [7]).head())
        }
        try onAnotherThread {
            let remote = try place.remote()
            #expect(try remote.request() == [9])
            #expect(try remote.request() == [7])
        }
        thread.join()
    }

    @Test func aServerThatSendsNonsenseCostsThePortItself() throws {
        let place = Place()
        let listener = try place.rawListener()
        let results: [([UInt8], MessagePortError)] = [
            (sampleBytes(24), .malformedFrame),
            (Frame.message(1, []).head(), .malformedFrame),
            (Frame.reply(1, sampleBytes(2_000)).head(), .messageTooLarge),
            (Frame.refusal(.peerNotPermitted).head(), .peerNotPermitted),
            (Frame(kind: .refusal, id: 99, number: 1).head(), .malformedFrame),
            (Frame(kind: .refusal, id: 0, number: 1).head(), .malformedFrame),
            (Array(Frame.reply(1, sampleBytes(100)).head().prefix(50)), .becameInvalid),
        ]
        let thread = startThread {
            for (bytes, _) in results {
                guard let peer = try? listener.accept(), peer.readFrame() != nil else { return }
                peer.write(bytes)
            }
        }
        try onAnotherThread {
            for (_, error) in results {
                let remote = try place.remote(replyLimit: 1_000)
                #expect(throws: error) { try remote.request() }
                #expect(!remote.isValid)
                let port: any UVRunLoop.PortSource = remote
                #expect(!port.isValid)
            }
        }
        thread.join()
    }
}
