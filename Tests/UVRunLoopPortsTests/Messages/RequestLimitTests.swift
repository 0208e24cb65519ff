import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The send limit and the receive limit.
@Suite(.timeLimit(.minutes(15))) struct RequestLimitTests {
    /// Each request has a limit of zero for the other wait.
    @Test func aRequestHasALimitForSendingAndAnotherForTheReply() throws {
        let (place, log, gaveUp) = (Place(), EventLog(), Signal())
        let listener = try place.rawListener("deaf")
        let server = try PortServer(place) { _, _ in
            gaveUp.wait()
            return [1]
        }
        let (limit, data) = (Duration.milliseconds(30), sampleBytes(1 << 20))
        try onAnotherThread {
            let deaf = try place.remote("deaf")
            let peer = try listener.accept()
            let start = UVRunLoop.Instant.now
            do {
                try deaf.request(data, sendLimit: limit, receiveLimit: .zero)
            } catch {
                log.note("\(error), in time: \(start.duration(to: .now) >= limit)")
            }
            withExtendedLifetime(peer) {}
        }
        try onAnotherThread {
            let silent = try place.remote()
            let start = UVRunLoop.Instant.now
            do {
                try silent.request([1], sendLimit: .zero, receiveLimit: limit)
            } catch {
                log.note("\(error), in time: \(start.duration(to: .now) >= limit)")
            }
        }
        gaveUp.send()
        server.stop()
        #expect(
            log.entries == [
                "the message was not sent within the limit, in time: true",
                "no reply arrived within the limit, in time: true",
            ]
        )
    }

    @Test func aSendToAPeerThatNeverReadsEndsAtItsLimit() throws {
        let place = Place()
        let listener = try place.rawListener()
        try onAnotherThread {
            for mode in [nil, UVRunLoop.Mode.reply] {
                let remote = try place.remote()
                let peer = try listener.accept()
                let told = EventLog()
                remote.invalidationHandler = { _ in told.note("invalid") }
                let data = sampleBytes(16 << 20)
                let start = UVRunLoop.Instant.now
                #expect(throws: MessagePortError.sendTimedOut) {
                    try remote.send(data: data, sendLimit: .milliseconds(30), replyMode: mode)
                }
                #expect(start.duration(to: .now) >= .milliseconds(30))
                // A part was sent, so nothing may follow.
                #expect(!remote.isValid)
                #expect(told.entries == ["invalid"])
                #expect(throws: MessagePortError.isInvalid) { try remote.sendOneWay([]) }
                #expect(peer.read().count < data.count)
            }
        }
    }

    @Test func aMessageOfWhichNothingIsOutIsTakenBack() throws {
        let (_, peer, remote) = try Place().connected()
        var count = 0
        #expect(throws: MessagePortError.sendTimedOut) {
            while true {
                try remote.sendOneWay(sampleBytes(5_000), Int32(count), limit: .zero)
                count += 1
            }
        }
        // If a part was sent, the port is invalid; otherwise it works again once there is room.
        guard remote.isValid else { return }
        for id in 0..<count { #expect(peer.readFrame()?.id == Int32(id)) }
        try remote.sendOneWay([1], 77)
        #expect(peer.readFrame()?.id == 77)
    }

    /// Also one that is behind more than a single read takes.
    @Test(arguments: [0, 100_000])
    func aReplyThatArrivedWhileAHandlerKeptTheLoopBusyPastTheLimitCounts(behind count: Int) throws {
        let (_, peer, remote) = try Place().connected()
        let loop = UVRunLoop.current
        let limit = Duration.milliseconds(20)
        let timer = UVRunLoop.Timer(after: .zero) { _ in
            #expect(peer.readFrame()?.kind == .request)
            if count > 0 { peer.write(Frame.reply(9, sampleBytes(count)).head()) }
            peer.write(Frame.reply(1, [7]).head())
            letTimePass(limit)
        }
        loop.add(timer, forMode: .reply)
        #expect(try remote.request([1], receiveLimit: limit) == [7])
        remote.invalidate()
    }

    /// To begin a frame after its limit could only end the connection.
    @Test func aFrameIsNotBegunAfterItsLimit() throws {
        let (connection, peer, remote) = try Place().connected()
        let first = try #require(try connection.beginSending(.message(1, sampleBytes(300_000))))
        let second = try #require(try connection.beginSending(.message(2, sampleBytes(300_000))))
        let reader = startUncheckedThread {
            #expect(peer.readFrame()?.id == 1)
            #expect(peer.readFrame()?.id == 3)
        }
        // There is room for the rest of the first and a part of the second then.
        while peer.socket.descriptor.unreadByteCount > 0 { usleep(100) }
        #expect(try !connection.trySending(second, isLate: true))
        guard case .withdrawn = connection.withdraw(second) else {
            Issue.record("A part of the frame was sent.")
            return
        }
        try finishSending(first, on: connection)
        try remote.sendOneWay([1], 3)
        reader.join()
        remote.invalidate()
    }

    /// The reason is behind more than one read takes, and the rest cannot be sent.
    @Test func aReasonThatHasArrivedCountsWhenTheOtherSideNoLongerReceives() throws {
        let (connection, peer, remote) = try Place().connected()
        let frame = Frame.message(1, sampleBytes(1 << 20))
        let queued = try #require(try connection.beginSending(frame))
        peer.write(Frame.reply(9, sampleBytes(100_000)).head())
        peer.write(Frame.refusal(.messageTooLarge).head())
        shutdown(peer.socket.descriptor.number, CInt(SHUT_RD))
        #expect(throws: MessagePortError.messageTooLarge) {
            _ = try connection.trySending(queued)
        }
        remote.invalidate()
    }

    @Test func aLimitOfZeroIsOneCheck() throws {
        let (place, gaveUp) = (Place(), Signal())
        let server = try PortServer(place, answeringBelow: 1, after: gaveUp)
        try onAnotherThread {
            let remote = try place.remote()
            #expect(throws: MessagePortError.receiveTimedOut) {
                try remote.request(id: 0, receiveLimit: .zero)
            }
            gaveUp.send()
            #expect(try remote.request(id: 1) == [1])
        }
        server.stop()
    }
}
