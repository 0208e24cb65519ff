import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A peer that sends constantly neither starves others nor defeats a sender's limits.
@Suite(.timeLimit(.minutes(15))) struct FairTurnTests {
    /// The peer always has exactly one unread message when the port reads.
    @Test func onePeerThatAlwaysHasAMessageDoesNotKeepOthersOut() throws {
        let (place, log) = (Place(), EventLog())
        try onAnotherThread {
            let talker = Guarded<RawPeer?>(nil)
            let newcomer = Guarded<RawPeer?>(nil)
            let port = try place.local { _, message in
                log.note("\(message.id)")
                if message.id == 1, log.entries.count < 500 {
                    talker.withLock { $0 }?.write(Frame.message(1, []).head())
                }
                if log.entries.count == 1, let peer = try? place.rawSocket() {
                    peer.write(Frame.message(2, []).head())
                    newcomer.withLock { $0 = peer }
                }
                return nil
            }
            let peer = try place.rawSocket()
            talker.withLock { $0 = peer }
            UVRunLoop.current.add(port, forMode: .default)
            UVRunLoop.current.run(mode: .default, for: .milliseconds(20))
            peer.write(Frame.message(1, []).head())
            let loop = UVRunLoop.current
            while log.entries.count < 500,
                loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
                    == .handledSource
            {}
            port.invalidate()
        }
        let turn = try #require(log.entries.firstIndex(of: "2"))
        #expect(turn < 100)
    }

    @Test func connectionsThatWereClosedAgainTakeNobodysPlace() throws {
        let place = Place()
        var limits = MessagePort.Limits()
        limits.maximumConnections = 100
        let port = try place.local(limits: limits) { _, _ in [1] }
        for _ in 0..<1_000 { _ = try place.rawSocket() }
        let peer = try place.rawSocket()
        peer.write(Frame.request(1, 0, []).head())
        onAnotherThread {
            UVRunLoop.current.add(port, forMode: .default)
            var result = UVRunLoop.RunResult.handledSource
            while result == .handledSource, peer.socket.descriptor.unreadByteCount == 0 {
                result = UVRunLoop.current.run(
                    mode: .default,
                    for: .seconds(60),
                    returnAfterSourceHandled: true
                )
            }
            port.invalidate()
        }
        #expect(peer.readFrame() == .reply(1, [1]))
    }

    @Test func aPeerThatOnlyTalksDoesNotHoldUpTheSendLimit() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let thread = startThread {
            guard let peer = try? listener.accept() else { return }
            let talk = (0..<2_000).flatMap { _ in Frame.reply(.max, nil).head() }
            for _ in 0..<20_000 where !peer.write(talk) { return }
            log.note("said it all")
        }
        let remote = try place.remote()
        let data = [UInt8](repeating: 1, count: 8 << 20)
        #expect(throws: MessagePortError.sendTimedOut) {
            try remote.send(data: data, sendLimit: .milliseconds(50))
        }
        remote.invalidate()
        thread.join()
        #expect(log.entries == [])
    }

    @Test func severalStopsDuringAWaitLeaveItsModeServed() throws {
        let (place, fires, isStopped) = (Place(), EventLog(), Signal())
        let server = try PortServer(place) { _, _ in
            isStopped.wait()
            return [1]
        }
        try onAnotherThread {
            let loop = UVRunLoop.current
            let stopper = UVRunLoop.Timer(after: .milliseconds(1), interval: .milliseconds(1)) {
                _ in
                fires.note("fire")
                loop.stop()
                if fires.entries.count == 3 { isStopped.send() }
            }
            loop.add(stopper, forMode: .reply)
            let reply = try place.remote().request()
            #expect(reply == [1])
            stopper.invalidate()
            #expect(fires.entries.count >= 3)
        }
        server.stop()
    }

    @Test func everyLookUpAsksItsOwnPolicy() throws {
        let place = Place()
        let server = try PortServer(place) { _, _ in nil }
        let known = try place.remote()
        #expect(throws: MessagePortError.peerNotPermitted) {
            try place.remote(acceptPeer: { _ in false })
        }
        #expect(known.isValid)
        server.stop()
    }
}
