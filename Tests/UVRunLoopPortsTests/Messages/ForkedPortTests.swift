import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A process that forks: each test runs in a process of its own, so that little else goes on in it.
@Suite(.timeLimit(.minutes(15))) struct ForkedPortTests {
    @Test func aForkedChildHasNoneOfItsParentsPorts() async {
        await #expect(processExitsWith: .success) { forkAndLookForPorts() }
    }

    /// What the threads have locked at the moment of a fork stays locked in the child.
    ///
    /// The sanitizer's own locks are inherited held.
    @Test(.enabled(if: !isUnderThreadSanitizer))
    func aChildOfAProcessWhoseThreadsMakePortsMakesItsOwn() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            // The child's way, once in this process: what is made at first use is made.
            #expect(usePorts(in: place) == 0)
            let end = Signal()
            let threads = (0..<3).map { _ in
                startThread { while !end.hasCome, usePorts(in: place) == 0 {} }
            }
            for _ in 0..<200 {
                #expect(inChild(endingAfter: 20) { usePorts(in: place) } == 0)
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
        // Letting the parent's port go must not end the parent's connection.
        remote = nil
        return isTaken && isOwn ? 0 : 1
    }
    let isAlive = mine.isValid
    let reply = try remote?.request([2])
    server.stop()
    // No `exit` here, which would leave the place behind.
    precondition(status == 0 && isAlive && reply == [2], "The two share a port.")
}

/// Makes, looks up and ends ports of all kinds; 0 when all went well.
private func usePorts(in place: Place) -> CInt {
    do {
        let name = PortName.unguessable().text
        let named = try place.local("own-\(name)") { _, _ in nil }
        let unnamed = try Local.unnamed(
            in: place.directory(),
            order: 0,
            limits: .init(),
            acceptPeer: nil,
            handler: ThreadBound(sendable: { _, _ in nil })
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
