import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Forking processes: each test runs in its own process, so that no other threads interfere.
@Suite(.timeLimit(.minutes(15))) struct ForkedPortTests {
    @Test func aForkedChildHasNoneOfItsParentsPorts() async {
        await #expect(processExitsWith: .success) { forkAndLookForPorts() }
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

private func forkAndLookForPorts() {
    do {
        try lookForPortsInAChild()
    } catch {
        fatalError("\(error)")
    }
}

private func lookForPortsInAChild() throws {
    let place = Place()
    let server = try PortServer(place) { _, message in message.data }
    let mine = try place.local("mine") { _, _ in nil }
    var remote: Remote? = try place.remote()
    _ = try remote?.request([1])
    let status = inChild {
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
