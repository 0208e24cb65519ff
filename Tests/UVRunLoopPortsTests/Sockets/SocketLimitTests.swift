import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A listener that may accept no more connections.
@Suite(.timeLimit(.minutes(15))) struct SocketLimitTests {
    @Test func aFullListenerAcceptsWhenAConnectionCloses() throws {
        try withLoop { loop in
            var options = SocketPort.ListenOptions()
            options.maximumConnections = 2
            let server = try Server(loop, options: options)
            let peers = try (0..<5).map { _ in try Peer(connectingTo: server.address) }
            loop.run { server.connections.count == 2 }
            let start = threadProcessorTime()
            #expect(loop.run(for: .milliseconds(100)) == .timedOut)
            #expect(threadProcessorTime() - start < 50_000_000)
            #expect(server.connections.count == 2)
            server.connections[0].invalidate()
            loop.run { server.connections.count == 3 }
            #expect(loop.run(for: .milliseconds(5)) == .timedOut)
            #expect(server.connections.count == 3)
            server.connections[1].invalidate()
            server.connections[2].invalidate()
            loop.run { server.connections.count == 5 }
            #expect(server.log.entries == [])
            peers.forEach { $0.close() }
            server.close()
        }
    }

    @Test func anAcceptedConnectionThatNobodyKeepsIsClosed() throws {
        try withLoop { loop in
            var options = SocketPort.ListenOptions()
            options.maximumConnections = 1
            let log = EventLog()
            let listener = try SocketPort(
                listeningAt: .ipv4Loopback(port: 0),
                options: options
            ) { _, event in
                log.note(event)
            }
            loop.add(listener, forMode: .default)
            let address = try #require(listener.localAddress)
            for number in 1...3 {
                let peer = try Peer(connectingTo: address)
                loop.run { log.count == number }
                #expect(peer.readToTheEnd() == [])
            }
            listener.invalidate()
        }
    }

    @Test func anEventIsOneConnection() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let peers = try (0..<5).map { _ in try Peer(connectingTo: server.address) }
            for count in 1...5 {
                let result = loop.run(for: .seconds(60), returnAfterSourceHandled: true)
                #expect(result == .handledSource && server.connections.count == count)
            }
            peers.forEach { $0.close() }
            server.close()
        }
    }

    @Test func aListenerThatItsHandlerRemovesAcceptsNoMore() throws {
        try withLoop { loop in
            var accepted: [SocketPort] = []
            let address = SocketAddress.ipv4Loopback(port: 0)
            let listener = try SocketPort(listeningAt: address) { port, event in
                if case .accepted(let connection) = event { accepted.append(connection) }
                loop.remove(port, forMode: .default)
            }
            let place = try #require(listener.localAddress)
            let peers = try (0..<3).map { _ in try Peer(connectingTo: place) }
            for count in 1...3 {
                loop.add(listener, forMode: .default)
                loop.run(for: .seconds(60))
                #expect(accepted.count == count)
            }
            peers.forEach { $0.close() }
            accepted.forEach { $0.invalidate() }
            listener.invalidate()
        }
    }

    @Test func withoutDescriptorsAcceptingPausesAndGoesOn() async {
        await #expect(processExitsWith: .success) { inQuietProcess(runOutOfDescriptors) }
    }

    @Test func nothingIsLeftBehind() async {
        await #expect(processExitsWith: .success) { inQuietProcess(comeAndGo) }
    }
}

private func runOutOfDescriptors() throws {
    try withLoop { loop in
        let server = try Server(loop)
        let peers = try (0..<3).map { _ in try Peer(connectingTo: server.address) }
        // The first run opens libuv's own descriptors.
        loop.run { server.connections.count == 3 }
        let waiting = try (0..<2).map { _ in try Peer(connectingTo: server.address) }
        let table = FullTable()

        let observer = CountingObserver(loop)
        let start = threadProcessorTime()
        precondition(loop.run(for: .milliseconds(350)) == .timedOut)
        precondition(server.connections.count == 3, "There was no descriptor for it.")
        precondition(threadProcessorTime() - start < 100_000_000, "It spins.")
        precondition(observer.count <= 20, "\(observer.count) sleeps.")

        // Room that this process makes is used at once; room that others make, after a pause.
        server.connections[0].invalidate()
        precondition(loop.run { server.connections.count == 4 }, "Not at once.")
        table.leave(1)
        precondition(loop.run { server.connections.count == 5 }, "Not in a while.")
        precondition(server.log.entries.isEmpty, "\(server.log.entries)")
        table.clear()
        (peers + waiting).forEach { $0.close() }
        server.close()
    }
}

/// Counts the sleeps of a loop.
private final class CountingObserver {
    private(set) var count = 0

    init(_ loop: UVRunLoop) {
        let observer = UVRunLoop.Observer(activities: .beforeWaiting) { [weak self] _, _ in
            self?.count += 1
        }
        loop.add(observer, forMode: .default)
    }
}

private func comeAndGo() throws {
    let place = Place()
    func round() throws {
        try withLoop { loop in
            for address in [SocketAddress.ipv4Loopback(port: 0), .unix(place.path + "/socket")] {
                let server = try Server(loop, at: address)
                let clients = try (0..<20).map { _ in
                    try SocketPort(connectingTo: server.address) { port, event in
                        if case .connected = event { port.send("hello".utf8) }
                    }
                }
                clients.forEach { loop.add($0, forMode: .default) }
                precondition(loop.run { server.log.count == 20 })
                clients.prefix(10).forEach { $0.invalidate() }
                clients.suffix(10).forEach { $0.endSending() }
                precondition(loop.run { server.log.count == 40 })
                server.close()
            }
        }
    }
    try round()
    let before = openDescriptorCount()
    for _ in 0..<5 { try round() }
    precondition(openDescriptorCount() == before, "Descriptors stay open.")

    // A thread that ends closes the ports in its loop.
    let thread = startUncheckedThread {
        let loop = UVRunLoop.current
        guard let server = try? Server(loop), let peer = try? Peer(connectingTo: server.address)
        else { preconditionFailure("No server.") }
        loop.run { server.connections.count == 1 }
        peer.close()
    }
    thread.join()
    precondition(openDescriptorCount() == before, "A thread's descriptors stay open.")
}
