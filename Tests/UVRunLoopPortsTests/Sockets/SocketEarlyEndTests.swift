import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Connections that are ended before they are established.
@Suite(.timeLimit(.minutes(15))) struct SocketEarlyEndTests {
    /// How a connection is ended right after it was made.
    enum Ending: CaseIterable, Sendable {
        case endSending, invalidateWhenDrained
    }

    @Test(arguments: Ending.allCases)
    func aConnectionEndedBeforeItIsUpTellsThePeer(ending: Ending) throws {
        let place = Place()
        for address in [SocketAddress.ipv4Loopback(port: 0), .unix(place.path + "/socket")] {
            try withLoop { loop in
                let server = try Server(loop, at: address) { port, event in
                    if case .ended = event { port.endSending() }
                }
                let log = EventLog()
                let client = try SocketPort(connectingTo: server.address) { log.note($1) }
                loop.add(client, forMode: .default)
                switch ending {
                case .endSending: client.endSending()
                case .invalidateWhenDrained: client.invalidateWhenDrained()
                }
                loop.run {
                    !client.isValid && server.connections.first.map { !$0.isValid } ?? false
                }
                #expect(!client.isValid && !server.connection.isValid)
                server.close()
            }
        }
    }

    @Test func anEndBeforeThePortIsInALoopHoldsToo() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let client = try SocketPort(connectingTo: server.address) { _, _ in }
            client.endSending()
            loop.add(client, forMode: .default)
            loop.run { server.log.entries == ["ended"] }
            #expect(server.log.entries == ["ended"])
            client.invalidate()
            server.close()
        }
    }

    /// Under the thread sanitizer a connection takes longer than the test's limit.
    @Test(.enabled(if: !isUnderThreadSanitizer))
    func ofHundredsEndedEarlyUnderLoadNoneIsLeft() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { try endEarly(200) }
        }
    }

    @Test func anOverflowWhileConnectingFailsAtOnceAndForGood() throws {
        let place = Place()
        for address in [SocketAddress.ipv4Loopback(port: 0), .unix(place.path + "/socket")] {
            try withLoop { loop in
                let listener = try PlainListener(at: address, backlog: 0)
                let crowd = try Peer(connectingTo: listener.address)
                let log = EventLog()
                let client = try SocketPort(connectingTo: listener.address) { log.note($1) }
                client.maximumQueuedBytes = 10
                loop.add(client, forMode: .default)
                #expect(loop.run(for: .milliseconds(5)) == .timedOut)
                #expect(!client.send(sampleBytes(11)))
                #expect(!client.send([1]))
                #expect(loop.run(for: .seconds(60)) == .finished)
                #expect(log.entries == ["failed: too much waits to be sent"])
                crowd.close()
            }
        }
    }
}

/// Opens connections, ends each at once, and expects that both sides become invalid and no
/// descriptor stays open, while other threads keep every core busy.
private func endEarly(_ count: Int) throws {
    let place = Place()
    let isDone = Guarded(false)
    let load = (0..<2).map { _ in
        startUncheckedThread { while !isDone.withLock({ $0 }) { _ = sampleBytes(10_000) } }
    }
    func round(_ address: SocketAddress, _ count: Int) throws {
        try withLoop { loop in
            var open = 0
            let server = try Server(loop, at: address) { port, event in
                if case .ended = event { port.endSending() }
                if !port.isValid { open -= 1 }
            }
            for start in stride(from: 0, to: count, by: 100) {
                let clients = try (start..<min(start + 100, count)).map { number in
                    let client = try SocketPort(connectingTo: server.address) { _, _ in }
                    loop.add(client, forMode: .default)
                    if number.isMultiple(of: 2) {
                        client.endSending()
                    } else {
                        client.invalidateWhenDrained()
                    }
                    return client
                }
                open += clients.count
                loop.run { open == 0 && clients.allSatisfy { !$0.isValid } }
                let left = clients.count { $0.isValid }
                precondition(left == 0 && open == 0, "\(left) clients, \(open) served are left.")
            }
            server.close()
        }
    }
    let addresses = [SocketAddress.ipv4Loopback(port: 0), .unix(place.path + "/socket")]
    for address in addresses { try round(address, 2) }
    let before = openDescriptorCount()
    for address in addresses { try round(address, count) }
    let after = openDescriptorCount()
    isDone.withLock { $0 = true }
    load.forEach { $0.join() }
    precondition(after == before, "\(after - before) descriptors are left.")
}
