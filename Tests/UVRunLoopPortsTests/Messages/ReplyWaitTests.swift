import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The run of the loop while a sender waits.
@Suite(.timeLimit(.minutes(15))) struct ReplyWaitTests {
    @Test func theLoopServesTheReplyModeAndNoOther() throws {
        let (place, log, served) = (Place(), EventLog(), Signal())
        let server = try PortServer(place) { _, _ in
            served.wait()
            return [1]
        }
        try onAnotherThread {
            let loop = UVRunLoop.current
            let timer = UVRunLoop.Timer(after: .milliseconds(3), interval: .milliseconds(1)) { _ in
                log.note("reply mode")
                served.send()
            }
            loop.add(timer, forMode: .reply)
            let other = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("default mode") }
            loop.add(other, forMode: .default)
            let reply = try place.remote().request()
            #expect(reply == [1])
            timer.invalidate()
            #expect(log.entries.contains("reply mode"))
            #expect(!log.entries.contains("default mode"))
        }
        server.stop()
    }

    @Test func aPortOfTheSameLoopAnswersWhileItsSenderWaits() throws {
        let place = Place()
        try onAnotherThread {
            let port = try place.local { _, message in message.data }
            UVRunLoop.current.add(port, forMode: .reply)
            let data = sampleBytes(3 << 20)
            let reply = try place.remote().request(data)
            #expect(reply == data)
            port.invalidate()
        }
    }

    @Test func handlersMaySendOverTheSamePortMeanwhile() throws {
        let (place, log, lastOne) = (Place(), EventLog(), Signal())
        let server = try PortServer(place, answeringBelow: 1, after: lastOne)
        try onAnotherThread {
            let remote = try place.remote()
            let loop = UVRunLoop.current
            for id in 1...3 {
                let timer = UVRunLoop.Timer(after: .milliseconds(id)) { _ in
                    if id == 3 { lastOne.send() }
                    do {
                        let reply = try remote.request(id: Int32(id))
                        log.note("\(reply ?? [])")
                    } catch {
                        log.note("\(error)")
                    }
                }
                loop.add(timer, forMode: .reply)
            }
            #expect(try remote.request(id: 0) == [0])
        }
        server.stop()
        #expect(log.entries.sorted() == ["[1]", "[2]", "[3]"])
    }

    /// What runs the loop in the mode of a wait.
    enum Nesting: CaseIterable {
        case timer, block, observer
    }

    @Test(arguments: Nesting.allCases)
    func aReplyThatANestedRunReceivesEndsTheWait(nesting: Nesting) throws {
        let (place, log, asked) = (Place(), EventLog(), Signal())
        let server = try PortServer(place) { _, _ in
            asked.wait()
            return [1]
        }
        try onAnotherThread {
            let loop = UVRunLoop.current
            let remote = try place.remote()
            let runNested: @Sendable () -> Void = {
                guard !asked.hasCome else { return }
                asked.send()
                // The only port-based source of the mode is that of the wait.
                loop.run(mode: .reply, for: .seconds(60), returnAfterSourceHandled: true)
                log.note("received")
            }
            let late = UVRunLoop.Timer(after: .seconds(60)) { _ in log.note("late") }
            loop.add(late, forMode: .reply)
            switch nesting {
            case .timer:
                let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in runNested() }
                loop.add(timer, forMode: .reply)
            case .block: loop.perform(inModes: [.reply]) { runNested() }
            case .observer:
                let observer = UVRunLoop.Observer(activities: .beforeWaiting) { _, _ in runNested()
                }
                loop.add(observer, forMode: .reply)
            }
            #expect(try remote.request(receiveLimit: .seconds(90)) == [1])
            #expect(log.entries == ["received"])
            late.invalidate()
        }
        server.stop()
    }

    /// The outer wait's reply arrives first, and is read by the inner wait.
    @Test func aReplyThatComesDuringANestedWaitEndsTheOuterOne() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let thread = startThread {
            guard let peer = try? listener.accept(), let outer = peer.readFrame(),
                let inner = peer.readFrame()
            else { return log.note("no requests") }
            peer.write(Frame.reply(outer.number, [1]).head())
            usleep(10_000)
            peer.write(Frame.reply(inner.number, [2]).head())
            _ = peer.read()
        }
        try onAnotherThread {
            let remote = try place.remote()
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                log.note("inner \((try? remote.request()) ?? [])")
            }
            UVRunLoop.current.add(timer, forMode: .reply)
            #expect(try remote.request() == [1])
            remote.invalidate()
        }
        thread.join()
        #expect(log.entries == ["inner [2]"])
    }

    @Test func aLateReplyIsNeverTakenForTheNextOne() throws {
        let (place, gaveUp) = (Place(), Signal())
        let server = try PortServer(place, answeringBelow: 5, after: gaveUp)
        try onAnotherThread {
            let remote = try place.remote()
            for id in 0..<5 {
                #expect(throws: MessagePortError.receiveTimedOut) {
                    try remote.request(id: Int32(id), receiveLimit: .milliseconds(1))
                }
            }
            gaveUp.send()
            for id in 5..<10 { #expect(try remote.request(id: Int32(id)) == [UInt8(id)]) }
        }
        server.stop()
    }

    @Test func aModeThatWasWaitedInIsEmptyAfterwards() throws {
        let place = Place()
        let server = try PortServer(place) { _, message in message.data }
        try onAnotherThread {
            let remote = try place.remote()
            for mode in [UVRunLoop.Mode.reply, .reply, .default, .reply] {
                #expect(try remote.request([1], mode: mode) == [1])
                #expect(UVRunLoop.current.run(mode: mode, for: .seconds(60)) == .finished)
            }
        }
        server.stop()
    }

    @Test func aReplyThatNobodyWaitsForEndsNoRunOfItsMode() throws {
        let (place, gaveUp) = (Place(), Signal())
        let server = try PortServer(place, answeringBelow: 1, after: gaveUp)
        try onAnotherThread {
            let remote = try place.remote()
            #expect(throws: MessagePortError.receiveTimedOut) {
                try remote.request(receiveLimit: .milliseconds(1))
            }
            gaveUp.send()
            let loop = UVRunLoop.current
            loop.add(UVRunLoop.Timer(after: .milliseconds(50)) { _ in }, forMode: .reply)
            let result = loop.run(
                mode: .reply,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .finished)
            #expect(try remote.request(id: 7) == [7])
        }
        server.stop()
    }

    @Test func anAnswerThatNobodyAskedForIsDropped() throws {
        let place = Place()
        let listener = try place.rawListener()
        let thread = startThread {
            guard let peer = try? listener.accept(), let request = peer.readFrame() else { return }
            for number in [request.number + 1, .max, request.number, request.number] {
                peer.write(Frame.reply(number, [UInt8(truncatingIfNeeded: number)]).head())
            }
            guard let next = peer.readFrame() else { return }
            peer.write(Frame.reply(next.number, [9]).head())
            _ = peer.read()
        }
        try onAnotherThread {
            let remote = try place.remote()
            #expect(try remote.request() == [1])
            #expect(try remote.request() == [9])
            remote.invalidate()
        }
        thread.join()
    }

    @Test func aStopDuringTheWaitIsForTheRunAroundIt() throws {
        let (place, stopped) = (Place(), Signal())
        let server = try PortServer(place) { _, _ in
            stopped.wait()
            return [1]
        }
        try onAnotherThread {
            let loop = UVRunLoop.current
            let remote = try place.remote()
            let stopper = UVRunLoop.Timer(after: .milliseconds(2)) { _ in
                loop.stop()
                stopped.send()
            }
            loop.add(stopper, forMode: .reply)
            let replies = EventLog()
            loop.performLocally { replies.note("\((try? remote.request()) ?? [])") }
            loop.add(UVRunLoop.Timer(after: .seconds(100)) { _ in }, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(replies.entries == ["[1]"])
        }
        server.stop()
    }

    // MARK: Sizes

    @Test func whatIsTooLargeForEitherSideIsAnError() throws {
        let place = Place()
        var limits = MessagePort.Limits()
        limits.maximumMessageSize = 1_000
        let server = try PortServer(place, limits: limits) { _, message in
            [UInt8](repeating: 1, count: Int(message.id))
        }
        try onAnotherThread {
            let remote = try place.remote(replyLimit: 500)
            #expect(try remote.request(sampleBytes(1_000), id: 500)?.count == 500)
            // The handler's reply exceeds the port's own limit; the connection stays.
            #expect(throws: MessagePortError.messageTooLarge) { try remote.request(id: 1_001) }
            #expect(remote.isValid)
            #expect(throws: MessagePortError.messageTooLarge) { try remote.request(id: 501) }
            #expect(!remote.isValid)
            let next = try place.remote()
            #expect(throws: MessagePortError.messageTooLarge) {
                try next.request(sampleBytes(1_001))
            }
            #expect(!next.isValid)
            let reply = try place.remote().request(id: 2)
            #expect(reply == [1, 1])
        }
        server.stop()
    }

    // MARK: The end

    @Test func thePeersEndIsToldOnceToAllWhoWait() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let remote = try place.remote()
        remote.invalidationHandler = { _ in log.note("replaced") }
        remote.invalidationHandler = { _ in log.note("handler") }
        let threads = (0..<3).map { _ in
            startThread {
                do {
                    _ = try remote.request()
                } catch {
                    log.note("\(error)")
                }
            }
        }
        do {
            let peer = try listener.accept()
            for _ in 0..<3 { #expect(peer.readFrame() != nil) }
        }
        for thread in threads { thread.join() }
        #expect(
            log.entries.sorted() == [
                "handler", "the port became invalid", "the port became invalid",
                "the port became invalid",
            ]
        )
        #expect(remote.invalidationHandler == nil)
        #expect(throws: MessagePortError.isInvalid) { try remote.sendOneWay([]) }
        remote.invalidationHandler = { _ in log.note("late") }
        #expect(log.entries.last == "late")
    }

    @Test func aSendNoticesThatThePeerIsGone() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let remote = try place.remote()
        remote.invalidationHandler = { _ in log.note("handler") }
        _ = try listener.accept()
        #expect(throws: MessagePortError.becameInvalid) { try remote.sendOneWay([]) }
        #expect(throws: MessagePortError.isInvalid) { try remote.sendOneWay([]) }
        #expect(log.entries == ["handler"])
    }

    @Test func aLoopThatHoldsTheRemotePortIsToldOfItsEnd() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        try onAnotherThread {
            let loop = UVRunLoop.current
            let remote = try place.remote()
            remote.invalidationHandler = { _ in log.note("handler") }
            loop.add(remote, forMode: .default)
            let peer = Guarded<RawPeer?>(try listener.accept())
            loop.performLocally { peer.withLock { $0 = nil } }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(!remote.isValid)
        }
        #expect(log.entries == ["handler"])
    }

    @Test func invalidatingAPortEndsTheWaitsForIt() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let remote = try place.remote()
        let thread = startThread {
            UVRunLoop.current.add(UVRunLoop.Timer(after: .seconds(100)) { _ in }, forMode: .reply)
            do {
                _ = try remote.request()
            } catch {
                log.note("\(error)")
            }
        }
        let peer = try listener.accept()
        #expect(peer.readFrame() != nil)
        remote.invalidate()
        thread.join()
        #expect(log.entries == ["the port became invalid"])
        #expect(peer.read() == [])
    }

    /// A run nested in the wait finds the socket ready for nobody: at its end, with what is unread,
    /// or with room that only the waiting sender would fill.
    @Test(arguments: [true, false])
    func aNestedRunIsNotBusyWithTheSocketOfTheWait(atItsEnd: Bool) throws {
        let (log, passes) = (EventLog(), EventLog())
        let (_, peer, remote) = try Place().connected()
        onAnotherThread {
            let loop = UVRunLoop.current
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                if atItsEnd {
                    peer.write(Frame.reply(7, [1]).head())
                    remote.invalidate()
                } else {
                    _ = peer.read(peer.socket.descriptor.unreadByteCount)
                }
                let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
                    passes.note("pass")
                }
                loop.add(observer, forMode: .reply)
                loop.run(mode: .reply, for: .milliseconds(20))
                observer.invalidate()
                remote.invalidate()
            }
            loop.add(timer, forMode: .reply)
            let keeper = UVRunLoop.Timer(after: .seconds(1_000)) { _ in }
            loop.add(keeper, forMode: .reply)
            do {
                _ = try remote.request(sampleBytes(atItsEnd ? 1 : 8 << 20))
            } catch {
                log.note("\(error)")
            }
            keeper.invalidate()
        }
        #expect(log.entries == ["the port became invalid"])
        #expect(passes.count < 50)
    }

    @Test func aModeIsEmptyAgainAfterTheWait() throws {
        let place = Place()
        let server = try PortServer(place) { _, _ in [1] }
        try onAnotherThread {
            let loop = UVRunLoop.current
            let reply = try place.remote().request(mode: .default)
            #expect(reply == [1])
            let remote = try place.remote()
            #expect(try remote.request(mode: .default) == [1])
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
        server.stop()
    }
}
