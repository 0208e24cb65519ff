import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Connecting, and its failures.
@Suite(.timeLimit(.minutes(15))) struct SocketConnectTests {
    /// One of each kind of address that this machine supports.
    private static func addresses(in place: Place) -> [SocketAddress] {
        let all: [SocketAddress] = [
            .ipv4Loopback(port: 0), .ipv6Loopback(port: 0), .unix(place.path + "/socket"),
        ]
        return all.filter { address in
            guard let socket = try? UVRunLoopPorts.Stream.socket(family: address.family),
                case .ipv6 = address
            else { return true }
            return (try? socket.bind(to: address.raw)) != nil
        }
    }

    @Test func aClientConnectsAndBothSidesTalk() throws {
        let place = Place()
        for address in Self.addresses(in: place) {
            try withLoop { loop in
                let server = try Server(loop, at: address)
                let log = EventLog()
                let client = try SocketPort(connectingTo: server.address) { port, event in
                    log.note(event)
                    if case .connected = event { port.send(Array("hello".utf8)) }
                }
                loop.add(client, forMode: .default)
                #expect(loop.run { server.log.count == 1 && log.count == 1 }, "\(address)")
                server.connection.send("good day".utf8)
                #expect(loop.run { log.count == 2 })
                #expect(server.log.entries == ["received hello"])
                #expect(log.entries == ["connected", "received good day"])
                #expect(client.peerAddress == server.address)
                #expect(server.connection.localAddress == server.address)
                server.close()
                client.invalidate()
            }
        }
    }

    @Test func aUnixPeerIsKnownByTheKernelsWord() throws {
        let place = Place()
        try withLoop { loop in
            let server = try Server(loop, at: .unix(place.path + "/socket"))
            let client = try SocketPort(connectingTo: server.address) { _, _ in }
            loop.add(client, forMode: .default)
            loop.run { !server.connections.isEmpty }
            for port in [client, server.connection] {
                #expect(port.peerCredentials?.process == getpid())
                #expect(port.peerCredentials?.user == geteuid())
                #expect(port.peerCredentials?.group == getegid())
            }
            #expect(server.listener.peerCredentials == nil)
            server.close()
            client.invalidate()
            #expect(client.peerCredentials == nil && client.localAddress == nil)
        }
    }

    @Test func whatIsSentBeforeTheConnectionIsThereArrives() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let client = try SocketPort(connectingTo: server.address) { port, event in
                if case .connected = event { port.send(Array(" two".utf8)) }
            }
            #expect(client.send(Array("one".utf8)))
            client.endSending()
            #expect(!client.send(Array("nothing".utf8)))
            loop.add(client, forMode: .default)
            loop.run { server.log.entries.last == "ended" }
            #expect(server.log.entries == ["received one", "ended"])
            server.close()
            client.invalidate()
        }
    }

    private func outcome(of address: SocketAddress, limit: Duration? = nil) throws -> [String] {
        try withLoop { loop in
            let log = EventLog()
            let port = try SocketPort(connectingTo: address, limit: limit) { port, event in
                log.note(event)
                log.note("valid: \(port.isValid)")
            }
            loop.add(port, forMode: .default)
            loop.run { log.count > 0 }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(!port.send([1]))
            return log.entries
        }
    }

    @Test func whereNobodyListensAConnectionIsRefused() throws {
        let deaf = try PlainListener(at: .ipv4Loopback(port: 0), backlog: nil)
        let log = try outcome(of: deaf.address)
        deaf.close()
        #expect(log == ["failed: the connection was refused", "valid: false"])
    }

    @Test func aPathThatDoesNotExistIsAnErrorOfItsOwn() throws {
        let place = Place()
        let missing = try outcome(of: .unix(place.path + "/missing"))
        #expect(missing == ["failed: the path does not exist", "valid: false"])
        let path = place.path + "/socket"
        let stale = try Stream.socket(family: AF_UNIX)
        try stale.bind(to: try SocketAddress.unix(path).raw)
        stale.close()
        let refused = try outcome(of: .unix(path))
        #expect(refused == ["failed: the connection was refused", "valid: false"])
    }

    @Test func anAddressThatIsNoneIsRefusedAtOnce() {
        #expect(throws: UVRunLoop.SocketError(.invalidAddress)) {
            try SocketPort(connectingTo: .unix("")) { _, _ in }
        }
        #expect(throws: UVRunLoop.SocketError(.pathTooLong)) {
            let path = String(repeating: "x", count: 108)
            _ = try SocketPort(connectingTo: .unix(path)) { _, _ in }
        }
    }

    /// Fills a listener's backlog, so that the next client has to wait.
    private func fillLine(of address: SocketAddress) throws -> [Peer] {
        try (0..<4).map { _ in
            let socket = try UVRunLoopPorts.Stream.socket(family: address.family)
            _ = try socket.connect(to: try address.raw)
            return Peer(owning: dup(socket.number))
        }
    }

    @Test func aConnectionThatIsNotAnsweredTimesOut() throws {
        let place = Place()
        for address in [SocketAddress.ipv4Loopback(port: 0), .unix(place.path + "/socket")] {
            var options = SocketPort.ListenOptions()
            options.backlog = 0
            let listener = try SocketPort(listeningAt: address, options: options) { _, _ in }
            let target = try #require(listener.localAddress)
            let crowd = try fillLine(of: target)
            let start = UVRunLoop.Instant.now
            let log = try outcome(of: target, limit: .milliseconds(60))
            #expect(log == ["failed: the time limit has passed", "valid: false"], "\(address)")
            #expect(UVRunLoop.Instant.now - start >= .milliseconds(60))
            crowd.forEach { $0.close() }
            listener.invalidate()
        }
    }

    @Test func theLimitCountsByTheLoopsClock() throws {
        let place = Place()
        try withLoop(.manual) { loop, log in
            var options = SocketPort.ListenOptions()
            options.backlog = 0
            let path = SocketAddress.unix(place.path + "/socket")
            let listener = try SocketPort(listeningAt: path, options: options) { _, _ in }
            let crowd = try fillLine(of: path)
            let start = loop.now
            let client = try SocketPort(connectingTo: path, limit: .seconds(5)) { log.note($1) }
            loop.add(client, forMode: .default)
            while log.count == 0, loop.now - start < .seconds(60) {
                loop.run(for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(log.entries == ["failed: the time limit has passed"])
            #expect(loop.now - start == .seconds(5))
            crowd.forEach { $0.close() }
            listener.invalidate()
        }
    }

    @Test func theLimitKeepsNoModeThatThePortHasLeft() throws {
        try withLoop(.manual) { loop, log in
            var options = SocketPort.ListenOptions()
            options.backlog = 0
            let listener = try SocketPort(
                listeningAt: .ipv4Loopback(port: 0),
                options: options
            ) { _, _ in }
            let address = try #require(listener.localAddress)
            let crowd = try fillLine(of: address)
            let other = UVRunLoop.Mode("other")
            let client = try SocketPort(connectingTo: address, limit: .seconds(5)) { log.note($1) }
            loop.add(client, forMode: .default)
            loop.add(client, forMode: other)
            let start = loop.now
            loop.run(mode: .default, for: .milliseconds(10))
            loop.remove(client, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(loop.nextFireDate(forMode: .default) == nil)
            #expect(loop.now - start < .seconds(1) && log.entries == [])
            // Where it still is, it counts.
            while log.count == 0, loop.now - start < .seconds(60) {
                loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(log.entries == ["failed: the time limit has passed"])
            #expect(loop.now - start == .seconds(5))
            crowd.forEach { $0.close() }
            listener.invalidate()
        }
    }

    @Test func aFullLineOfAUnixListenerIsWaitedFor() throws {
        let place = Place()
        try withLoop { loop in
            var options = SocketPort.ListenOptions()
            options.backlog = 0
            let path = SocketAddress.unix(place.path + "/socket")
            let server = try Server(loop, at: path, options: options)
            loop.remove(server.listener, forMode: .default)
            let crowd = try fillLine(of: path)
            let log = EventLog()
            let client = try SocketPort(connectingTo: path, limit: .seconds(60)) { _, event in
                log.note(event)
            }
            loop.add(client, forMode: .default)
            loop.run(mode: .default, for: .milliseconds(20))
            #expect(log.entries == [])
            loop.add(server.listener, forMode: .default)
            loop.run { log.count > 0 }
            #expect(log.entries == ["connected"])
            #expect(loop.nextFireDate(forMode: .default) == nil)
            crowd.forEach { $0.close() }
            server.close()
            client.invalidate()
        }
    }

    @Test func theLimitHoldsInEveryModeThatThePortIsAddedTo() throws {
        let place = Place()
        try withLoop { loop in
            var options = SocketPort.ListenOptions()
            options.backlog = 0
            let path = SocketAddress.unix(place.path + "/socket")
            let listener = try SocketPort(listeningAt: path, options: options) { _, _ in }
            let crowd = try fillLine(of: path)
            let other = UVRunLoop.Mode("other")
            // On a busy machine a short limit may pass before the port is in the other mode.
            for limit in [40, 400, 4_000] {
                let log = EventLog()
                let client = try SocketPort(connectingTo: path, limit: .milliseconds(limit)) {
                    log.note($1)
                }
                loop.add(client, forMode: .default)
                loop.run(mode: .default, for: .milliseconds(5))
                guard log.count == 0 else { continue }
                loop.add(client, forMode: other)
                let result = loop.run(
                    mode: other,
                    for: .seconds(60),
                    returnAfterSourceHandled: true
                )
                #expect(result == .handledSource)
                #expect(log.entries == ["failed: the time limit has passed"])
                break
            }
            crowd.forEach { $0.close() }
            listener.invalidate()
        }
    }
}
