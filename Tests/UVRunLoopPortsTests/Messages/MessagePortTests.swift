import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Messages and replies between two threads, without errors.
@Suite(.timeLimit(.minutes(15))) struct MessagePortTests {
    @Test func anInvalidPortReleasesItsHandlerAndItsPolicy() throws {
        let log = EventLog()
        let port = try Place().local(acceptPeer: { [end = Farewell { log.note("policy") }] _ in
            withExtendedLifetime(end) { true }
        }) { [end = Farewell { log.note("handler") }] _, _ in
            withExtendedLifetime(end) { nil }
        }
        port.invalidate()
        #expect(!port.isValid)
        #expect(Set(log.entries) == ["policy", "handler"])
    }

    @Test func aRequestReachesTheHandlerOnceAndGetsItsReply() throws {
        let (place, log) = (Place(), EventLog())
        let server = try PortServer(place) { _, message in
            log.note("\(message.id) \(message.data) \(message.isReplyExpected)")
            return [4, 5, 6]
        }
        try onAnotherThread {
            let reply = try place.remote().request([1, 2, 3], id: 42)
            #expect(reply == [4, 5, 6])
        }
        server.stop()
        #expect(log.entries == ["42 [1, 2, 3] true"])
    }

    @Test func anEmptyReplyIsNotThatOfNoData() throws {
        let place = Place()
        let server = try PortServer(place) { _, message in message.id == 0 ? nil : [] }
        try onAnotherThread {
            let remote = try place.remote()
            #expect(try remote.request(id: 0) == nil)
            #expect(try remote.request(id: 1) == [])
        }
        server.stop()
    }

    @Test func oneWayMessagesArriveInOrderAndNeedNoLoop() throws {
        let (place, log, end) = (Place(), EventLog(), Signal())
        let server = try PortServer(place) { _, message in
            #expect(!message.isReplyExpected)
            log.note("\(message.id)")
            if message.id == 999 { end.send() }
            return [1]
        }
        let remote = try place.remote()
        for id in 0..<1_000 { try remote.sendOneWay([UInt8(id & 255)], Int32(id)) }
        end.wait()
        server.stop()
        #expect(log.entries == (0..<1_000).map(String.init))
    }

    @Test(arguments: [0, 1, 65_511, 65_512, 65_536, 65_537, 200_000, 16 << 20])
    func dataOfAnySizeArrivesIntactBothWays(size: Int) throws {
        let place = Place()
        let server = try PortServer(place) { _, message in message.data }
        try onAnotherThread {
            let data = sampleBytes(size)
            let reply = try place.remote().request(data)
            #expect(reply == data)
        }
        server.stop()
    }

    @Test func aMessageOnItsWayOutWithoutALoopIsFinishedAsThereIsRoom() throws {
        let (place, end) = (Place(), Signal())
        let data = sampleBytes(16 << 20)
        let server = try PortServer(place) { _, message in
            if message.data == data { end.send() }
            return nil
        }
        try place.remote().sendOneWay(data)
        end.wait()
        server.stop()
    }

    // MARK: Names

    @Test func aNameNobodyServesIsNoPort() throws {
        let place = Place()
        #expect(throws: MessagePortError.noSuchPort) { try place.remote("nobody") }
        #expect(throws: MessagePortError.invalidName) { try place.remote("") }
        #expect(throws: MessagePortError.nameTooLong) {
            try place.remote(String(repeating: "x", count: 200))
        }
    }

    @Test func twoMakesOfOneNameAreOnePortWithTheFirstHandler() throws {
        let (place, log) = (Place(), EventLog())
        try onAnotherThread {
            let first = try place.local { _, _ in
                log.note("first")
                return nil
            }
            let second = try place.local { _, _ in
                log.note("second")
                return nil
            }
            #expect(first === second)
            UVRunLoop.current.add(second, forMode: .reply)
            let reply = try place.remote().request()
            #expect(reply == nil)
            first.invalidate()
            #expect(!second.isValid)
            let third = try place.local { _, _ in nil }
            #expect(third !== first)
            #expect(third.isValid)
        }
        #expect(log.entries == ["first"])
        #expect(place.entries.isEmpty)
    }

    @Test func aPortThatNobodyHoldsGivesItsNameUp() throws {
        let place = Place()
        do {
            let port = try place.local { _, _ in nil }
            #expect(port.isValid)
            #expect(place.entries == ["port.lock", "port.port"])
        }
        #expect(place.entries.isEmpty)
    }

    @Test func anUnnamedPortAnswersThroughTheReplyPortThatAMessageCarries() throws {
        let (place, log) = (Place(), EventLog())
        let server = try PortServer(place) { _, message in
            do {
                let port = try #require(try message.replyPort())
                try port.sendOneWay([UInt8](message.data.reversed()), 7)
            } catch {
                log.note("\(error)")
            }
            return nil
        }
        try onAnotherThread {
            let loop = UVRunLoop.current
            let mine = try Local.port(
                .unguessable(),
                in: place.directory(),
                order: 0,
                limits: .init(),
                acceptPeer: nil,
                handler: HomeBound(sendable: { _, message in
                    log.note("\(message.id) \(message.data)")
                    loop.stop()
                    return nil
                })
            )
            loop.add(mine, forMode: .default)
            try place.remote().sendOneWay([1, 2, 3], 0, replyPort: mine)
            loop.run(mode: .default, for: .seconds(60))
            mine.invalidate()
        }
        server.stop()
        #expect(log.entries == ["7 [3, 2, 1]"])
        #expect(place.entries.isEmpty)
    }

    // MARK: As a source of a loop

    @Test func aMessageWaitsWhileAnotherModeRunsAndCountsAsAHandledSource() throws {
        let (place, log) = (Place(), EventLog())
        try onAnotherThread {
            let loop = UVRunLoop.current
            let port = try place.local { _, message in
                log.note("\(message.id)")
                return nil
            }
            loop.add(port, forMode: .default)
            let remote = try place.remote()
            for id in 1...3 { try remote.sendOneWay([], Int32(id)) }
            let other = UVRunLoop.Mode("other")
            loop.add(UVRunLoop.Timer(after: .milliseconds(5)) { _ in }, forMode: other)
            loop.run(mode: other, for: .milliseconds(20))
            #expect(log.entries == [])
            for count in 1...3 {
                let result = loop.run(
                    mode: .default,
                    for: .seconds(60),
                    returnAfterSourceHandled: true
                )
                #expect(result == .handledSource)
                #expect(log.entries.count == count)
            }
            port.invalidate()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
        #expect(log.entries == ["1", "2", "3"])
    }

    @Test func theEndOfTheLoopsThreadEndsThePort() throws {
        let (place, log) = (Place(), EventLog())
        let kept = Guarded<Local?>(nil)
        try onAnotherThread {
            let port = try place.local { _, _ in nil }
            port.invalidationHandler = { _ in log.note("invalid") }
            UVRunLoop.current.add(port, forMode: .default)
            kept.withLock { $0 = port }
        }
        #expect(kept.withLock { $0 }?.isValid == false)
        #expect(log.entries == ["invalid"])
        #expect(place.entries.isEmpty)
    }

    @Test func manyThreadsShareOneRemotePort() throws {
        let place = Place()
        let server = try PortServer(place) { _, message in message.data }
        let remote = try place.remote()
        let failures = EventLog()
        let threads = (0..<6).map { number in
            startThread {
                for round in 0..<300 {
                    let data = [UInt8(number), UInt8(round & 255), UInt8(round >> 8)]
                    do {
                        let reply = try remote.request(data)
                        if reply != data { failures.note("\(reply ?? []) for \(data)") }
                        if round % 10 == 0 { try remote.sendOneWay(data) }
                    } catch {
                        failures.note("\(error)")
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        server.stop()
        #expect(failures.entries == [])
    }
}
