import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Forking processes: each test runs in its own process, so that no other threads interfere.
@Suite(.timeLimit(.minutes(15))) struct ForkedPortTests {
    @Test func aForkedChildHasNoneOfItsParentsPorts() async {
        await #expect(processExitsWith: .success) { forkAndCheckPorts() }
    }

    @Test func aParentsRemotePortIsInvalidInTheChild() async {
        await #expect(processExitsWith: .success) { try useRemotePortInChild() }
    }

    @Test func aRequestIsNotAnsweredByTheChild() async {
        await #expect(processExitsWith: .success) { try releaseRequestInChild() }
    }

    @Test func aHandlerThatReturnsInTheChildDoesNotAnswerThere() async {
        await #expect(processExitsWith: .success) { try returnFromAHandlerInTheChild() }
    }

    @Test func aPolicyThatReturnsInTheChildDoesNotAdmitThere() async {
        await #expect(processExitsWith: .success) { try returnFromAPolicyInTheChild() }
    }

    @Test func anInvalidationHandlerThatReturnsInTheChildIsTheLastCallThere() async {
        await #expect(processExitsWith: .success) { try returnFromAnInvalidationHandler() }
    }

    @Test func theEndOfALocalPortIsNoticedWhileAChildLives() async {
        await #expect(processExitsWith: .success) { try endLocalPortBesideChild() }
    }

    @Test func aThreadOfAChildWaitsForOneThatTakesSecondsToMakeAPort() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            // The parent has used the library before the fork.
            let directory = try place.directory()
            try #require(usePorts(in: place) == 0)
            let status = inChild {
                (try? makeSlowly(directory.files(of: PortName.unguessable()).key)) ?? 2
            }
            #expect(status == 0)
        }
    }

    /// A lock that another thread holds at the moment of a fork stays held in the child.
    ///
    /// The sanitizer's own locks are inherited while held.
    @Test(.enabled(if: !isUnderThreadSanitizer))
    func aChildOfAProcessWhoseThreadsMakePortsMakesItsOwn() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            // Run the child's steps once in the parent, so that lazy initialisation is done before
            // the fork.
            #expect(usePorts(in: place) == 0)
            let end = Signal()
            let threads = (0..<3).map { _ in
                startThread { while !end.hasCome, usePorts(in: place) == 0 {} }
            }
            for _ in 0..<200 {
                #expect(inChild(endingAfter: 120) { usePorts(in: place) } == 0)
            }
            end.send()
            for thread in threads { thread.join() }
        }
    }
}

private func forkAndCheckPorts() {
    do {
        try checkPortsInAChild()
    } catch {
        fatalError("\(error)")
    }
}

private func checkPortsInAChild() throws {
    let place = Place()
    let server = try PortServer(place) { _, message in message.data }
    let mine = try place.local("mine") { _, _ in nil }
    var remote: Remote? = try place.remote()
    _ = try remote?.request([1])
    let status = inChild {
        guard !mine.isValid else { return 3 }
        let isTaken = (try? place.local("mine") { _, _ in nil }) == nil
        guard let own = try? place.remote() else { return 2 }
        let isOwn = own !== remote
        // Releasing the inherited port must not end the parent's connection.
        remote = nil
        return isTaken && isOwn ? 0 : 1
    }
    let isAlive = mine.isValid
    let reply = try remote?.request([2])
    server.stop()
    // Not `exit`, which would skip the removal of the directory.
    precondition(status == 0 && isAlive && reply == [2], "The two share a port.")
}

private func useRemotePortInChild() throws {
    let place = Place()
    let server = try PortServer(place) { _, message in message.data }
    try onAnotherThread {
        let remote = try place.remote()
        _ = try remote.request([1])
        let status = inChild {
            guard !remote.isValid else { return 1 }
            guard sendFails(remote, replyMode: nil) else { return 2 }
            guard sendFails(remote, replyMode: .default) else { return 3 }
            // More than the socket has room for, so that a part would be sent.
            guard sendFails(remote, count: 4 << 20, replyMode: nil) else { return 4 }
            let calls = SharedBox(0)
            remote.invalidationHandler = { _ in calls.value += 1 }
            guard calls.value == 1, remote.invalidationHandler == nil else { return 5 }
            remote.invalidate()
            return 0
        }
        precondition(status == 0, "The child ended with \(status).")
        precondition(trapsInChild { UVRunLoop.current.add(remote, forMode: .default) })
        let reply = try remote.request([2])
        precondition(remote.isValid && reply == [2])
        UVRunLoop.current.add(remote, forMode: .default)
        precondition(trapsInChild { UVRunLoop.current.add(remote, forMode: .modalPanel) })
    }
    server.stop()
}

private func sendFails(_ remote: Remote, count: Int = 1, replyMode: UVRunLoop.Mode?) -> Bool {
    do {
        try remote.send(
            data: [UInt8](repeating: 9, count: count),
            sendLimit: .zero,
            receiveLimit: .zero,
            replyMode: replyMode
        )
        return false
    } catch {
        return error == .isInvalid
    }
}

private func releaseRequestInChild() throws {
    let place = Place()
    let request = SharedBox<MessagePort.Request?>(nil)
    let ready = Signal()
    let server = try PortServer {
        let port = try place.local("port", { _, _ in nil })
        let requests = port.requests
        Task {
            for await taken in requests {
                request.value = taken
                ready.send()
            }
        }
        return port
    }
    let remote = try place.remote()
    let reply = SharedBox<[UInt8]?>(nil)
    let client = startThread { reply.value = try? remote.request([1]) }
    ready.wait()
    let status = inChild {
        request.value = nil
        return 0
    }
    precondition(status == 0)
    precondition(trapsInChild { request.value?.reply([66]) })
    request.value?.reply([2])
    client.join()
    precondition(reply.value == [2], "\(reply.value ?? [])")
    request.value = nil
    remote.invalidate()
    server.stop()
}

private func returnFromAHandlerInTheChild() throws {
    let (place, fork) = (Place(), FirstFork())
    try onAnotherThread {
        let parent = getpid()
        let local = try place.local("port") { _, _ in
            fork.callHandler()
            return [getpid() == parent ? 1 : 2]
        }
        let loop = UVRunLoop.current
        loop.add(local, forMode: .default)
        let peer = try place.rawSocket()
        for number: UInt64 in 1...2 {
            peer.write(Frame.request(number, 0, []).head())
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
        }
        precondition(fork.hasTrapped)
        for number: UInt64 in 1...2 { precondition(peer.readFrame() == .reply(number, [1])) }
        local.invalidate()
    }
}

private func returnFromAPolicyInTheChild() throws {
    let (place, fork) = (Place(), FirstFork())
    try onAnotherThread {
        let local = try place.local(
            "port",
            acceptPeer: { _ in
                fork.callHandler()
                return true
            }
        ) { _, _ in [1] }
        let loop = UVRunLoop.current
        loop.add(local, forMode: .default)
        let peer = try place.rawSocket()
        peer.write(Frame.request(1, 0, []).head())
        loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
        precondition(fork.hasTrapped)
        precondition(peer.readFrame() == .reply(1, [1]))
        local.invalidate()
    }
}

private func returnFromAnInvalidationHandler() throws {
    let (place, fork, log) = (Place(), FirstFork(), EventLog())
    try onAnotherThread {
        for name in ["one", "two"] {
            let local = try place.local(name) { _, _ in nil }
            local.invalidationHandler = { _ in
                fork.callHandler()
                log.note("invalid")
            }
            UVRunLoop.current.add(local, forMode: .default)
        }
    }
    precondition(fork.hasTrapped)
    precondition(log.entries == ["invalid", "invalid"])
}

private func endLocalPortBesideChild() throws {
    let place = Place()
    try onAnotherThread {
        let local = try place.local("port") { _, _ in nil }
        let loop = UVRunLoop.current
        loop.add(local, forMode: .default)
        let remote = try place.remote()
        try remote.sendOneWay([1])
        // The port has accepted the connection.
        loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
        let child = startChild { while true { pause() } }
        local.invalidate()
        loop.add(remote, forMode: .default)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        precondition(!remote.isValid && kill(child, 0) == 0)
        kill(child, SIGKILL)
    }
}

/// Makes, looks up and invalidates ports of all kinds; 0 on success.
private func usePorts(in place: Place) -> CInt {
    do {
        let name = PortName.unguessable().text
        let named = try place.local("own-\(name)") { _, _ in nil }
        let unnamed = try Local.unnamed(
            in: place.directory(),
            order: 0,
            limits: .init(),
            acceptPeer: nil,
            handler: HomeBound(sendable: { _, _ in nil })
        )
        for port in [named, unnamed] {
            let remote = try place.remote(port.name)
            try remote.sendOneWay([1])
            remote.invalidate()
            port.invalidate()
        }
        return 0
    } catch {
        print("The ports cannot be used: \(error)")
        return 1
    }
}

/// Makes a port for longer than a thread waits for a ``Lock`` that nobody will release, while
/// another thread makes the same one.
private func makeSlowly(_ key: PortFiles.Key) -> CInt {
    let registry = PortRegistry()
    let hasBegun = Signal()
    let wasCalled = SharedBox(false)
    let slow = startThread {
        _ = try? registry.port(of: key) { () throws(MessagePortError) in
            hasBegun.send()
            letTimePass(.milliseconds(4_500))
            throw .noSuchPort
        }
    }
    hasBegun.wait()
    let other = startThread {
        _ = try? registry.port(of: key) { () throws(MessagePortError) in
            wasCalled.value = true
            throw .noSuchPort
        }
    }
    slow.join()
    other.join()
    return wasCalled.value ? 0 : 1
}
