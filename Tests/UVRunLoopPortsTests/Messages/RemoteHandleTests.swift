import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Several callers in one process that each look up a name: none affects the others.
@Suite(.timeLimit(.minutes(15))) struct RemoteHandleTests {
    @Test func everyLookUpGivesAPortOfItsOwn() throws {
        let place = Place()
        let server = try PortServer(place) { _, message in message.data }
        let (first, second) = (try place.remote(), try place.remote())
        #expect(first !== second)
        #expect(first.name == second.name)
        first.invalidate()
        #expect(!first.isValid)
        #expect(second.isValid)
        try onAnotherThread {
            let reply = try second.request([1])
            #expect(reply == [1])
            #expect(throws: MessagePortError.isInvalid) { try first.request([2]) }
        }
        server.stop()
    }

    /// A program that keeps ports that have ended keeps no descriptors with them.
    @Test(arguments: [true, false])
    func aPortThatIsInvalidHasClosedItsSocket(isAdded: Bool) throws {
        let place = Place()
        let server = try PortServer(place) { _, message in message.data }
        try onAnotherThread {
            let loop = UVRunLoop.current
            let remote = try place.remote()
            if isAdded { loop.add(remote, forMode: .default) }
            #expect(try remote.request([1]) == [1])
            weak let socket = remote.connection.socket
            #expect(socket != nil)
            remote.invalidate()
            #expect(socket == nil)
            withExtendedLifetime(remote) {}
        }
        server.stop()
    }

    @Test func aPortWhoseOtherSideHasGoneHasClosedItsSocket() throws {
        let (connection, peer, remote) = try Place().connected()
        weak let socket = connection.socket
        peer.socket.descriptor.shutDown()
        #expect(throws: MessagePortError.self) { try remote.sendOneWay([]) }
        #expect(socket == nil)
        withExtendedLifetime(remote) {}
    }

    @Test func portsOfOneNameMayBeInDifferentLoops() async {
        await #expect(processExitsWith: .success) {
            let (place, log) = (Place(), EventLog())
            let listener = try place.rawListener()
            let isAdded = (Signal(), Signal())
            let threads = [isAdded.0, isAdded.1].map { isAdded in
                startThread {
                    do {
                        let remote = try place.remote()
                        remote.invalidationHandler = { _ in log.note("ended") }
                        UVRunLoop.current.add(remote, forMode: .default)
                        isAdded.send()
                        let result = UVRunLoop.current.run(mode: .default, for: .seconds(60))
                        log.note("\(result)")
                    } catch {
                        fatalError("\(error)")
                    }
                }
            }
            isAdded.0.wait()
            isAdded.1.wait()
            do { _ = (try listener.accept(), try listener.accept()) }
            for thread in threads { thread.join() }
            #expect(log.entries.sorted() == ["ended", "ended", "finished", "finished"])
        }
    }

    @Test func eachPortHasItsInvalidationHandler() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let (first, second) = (try place.remote(), try place.remote())
        first.invalidationHandler = { _ in log.note("first") }
        second.invalidationHandler = { _ in log.note("second") }
        do { _ = (try listener.accept(), try listener.accept()) }
        for remote in [first, second] {
            #expect(throws: MessagePortError.self) { try remote.sendOneWay([]) }
        }
        #expect(log.entries == ["first", "second"])
    }

    @Test func eachPortHasItsReplyLimit() throws {
        let place = Place()
        let server = try PortServer(place) { _, _ in sampleBytes(1_000) }
        try onAnotherThread {
            let small = try place.remote(replyLimit: 999)
            let large = try place.remote(replyLimit: 1_000)
            #expect(try large.request() == sampleBytes(1_000))
            #expect(throws: MessagePortError.messageTooLarge) { try small.request() }
            #expect(try large.request() == sampleBytes(1_000))
        }
        server.stop()
    }

    @Test func aPortInvalidatedInAnothersHandlerIsToldOnce() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        try onAnotherThread {
            let (first, second) = (try place.remote(), try place.remote())
            first.invalidationHandler = { _ in
                log.note("first")
                second.invalidate()
            }
            second.invalidationHandler = { _ in
                log.note("second")
                first.invalidate()
            }
            let loop = UVRunLoop.current
            loop.add(first, forMode: .default)
            loop.add(second, forMode: .default)
            do { _ = (try listener.accept(), try listener.accept()) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(!first.isValid && !second.isValid)
        }
        #expect(log.entries.sorted() == ["first", "second"])
    }

    /// A partly sent message invalidates the port that sent it, and no other.
    @Test func aMessageThatIsCutOffCostsItsOwnPortOnly() throws {
        let place = Place()
        let listener = try place.rawListener()
        let (careless, careful) = (try place.remote(), try place.remote())
        #expect(throws: MessagePortError.sendTimedOut) {
            try careless.sendOneWay(sampleBytes(8 << 20), limit: .milliseconds(20))
        }
        #expect(!careless.isValid)
        try careful.sendOneWay([1], 7)
        _ = try listener.accept()
        #expect(try listener.accept().readFrame()?.id == 7)
    }
}
