import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts

/// Local ports as programs make them: with a name or without one, for a handler or for a task.
@Suite(.timeLimit(.minutes(15))) struct PortMakingTests {
    private typealias MessagePort = UVRunLoop.MessagePort

    @Test func portsWithoutANameHaveNamesOfTheirOwn() throws {
        let ports = [
            try MessagePort.local { _, _ in nil },
            try MessagePort.local(sendableHandler: { _, _ in nil }),
            try MessagePort.local(),
        ]
        #expect(Set(ports.map(\.name)).count == 3 && ports.allSatisfy { $0.isValid })
        for port in ports {
            let name = port.name
            let remote = try MessagePort.remote(named: name)
            #expect(remote.name == name)
            port.invalidate()
            #expect(!port.isValid)
            #expect(throws: UVRunLoop.MessagePortError.noSuchPort) {
                try MessagePort.remote(named: name)
            }
        }
    }

    @Test func aPortWithoutANameTakesTheRepliesToOneWayMessages() throws {
        try withLoop { loop in
            let server = try MessagePort.local { _, message in
                let replies = try? message.replyPort()
                _ = try? replies?.send(id: 2, data: message.data + [2])
                return nil
            }
            let log = EventLog()
            let replies = try MessagePort.local(order: 4) { port, message in
                log.note("\(message.id) \(message.data) \(message.isReplyExpected)")
                port.invalidate()
                loop.stop()
                return nil
            }
            #expect(replies.link.order == 4)
            for port in [server, replies] { loop.add(port, forMode: .default) }
            let remote = try MessagePort.remote(named: server.name)
            _ = try remote.send(id: 1, data: [1], replyPort: replies)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["2 [1, 2] false"])
            server.invalidate()
        }
    }

    @Test func aPortThatAnotherThreadMakesServesOnTheLoopsThread() {
        withLoop { loop in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let thread = startThread {
                do {
                    let port = try MessagePort.local(sendableHandler: { _, message in
                        #expect(loop.isOnOwnThread)
                        return message.data + [7]
                    })
                    loop.add(port, forMode: .default)
                    let remote = try MessagePort.remote(named: port.name)
                    #expect(try remote.send(data: [1], replyMode: .connectionReply) == [1, 7])
                    port.invalidate()
                } catch {
                    Issue.record(error)
                }
                loop.perform { loop.stop() }
            }
            #expect(loop.run(mode: .default, for: .seconds(120)) == .stopped)
            thread.join()
        }
    }

    @Test func theLimitsAndThePolicyOfAPortWithoutANameHold() throws {
        try withLoop { loop in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            var limits = MessagePort.Limits()
            limits.maximumMessageSize = 2
            let asked = SharedBox(0)
            let policy: MessagePort.PeerPolicy = { peer in
                #expect(loop.isOnOwnThread && peer.process == getpid())
                asked.value += 1
                return asked.value < 3
            }
            let ports = [
                try MessagePort.local(limits: limits, acceptPeer: policy) { _, _ in nil },
                try MessagePort.local(
                    limits: limits,
                    acceptPeer: policy,
                    sendableHandler: { _, _ in nil }
                ),
                try MessagePort.local(limits: limits, acceptPeer: policy),
            ]
            for port in ports { loop.add(port, forMode: .default) }
            let names = ports.map(\.name)
            let thread = startThread {
                let errors = names.map { name in
                    error {
                        let remote = try MessagePort.remote(named: name)
                        _ = try remote.send(data: [1, 2, 3], replyMode: .connectionReply)
                    }
                }
                #expect(errors == [.messageTooLarge, .messageTooLarge, .peerNotPermitted])
                loop.perform { loop.stop() }
            }
            #expect(loop.run(mode: .default, for: .seconds(120)) == .stopped)
            thread.join()
            for port in ports { port.invalidate() }
        }
    }

    @Test func aTaskTakesTheRequestsOfAPortWithAName() async throws {
        let name = "test of requests \(getpid())"
        try await UVRunLoop.withThread { loop in
            let port = try MessagePort.local(named: name)
            #expect(port.name == name)
            #expect(try MessagePort.local(named: name) === port)
            try await expectReplies(of: port, in: loop)
        }
    }

    @Test func aTaskTakesTheRequestsOfAPortWithoutAName() async throws {
        try await UVRunLoop.withThread { loop in
            try await expectReplies(of: try MessagePort.local(), in: loop)
        }
    }
}

/// Expects that a port's requests wait for a task, which replies, and invalidates the port.
private func expectReplies(of port: UVRunLoop.MessagePort.Local, in loop: UVRunLoop) async throws {
    loop.add(port, forMode: .common)
    let remote = try UVRunLoop.MessagePort.remote(named: port.name)
    async let reply = remote.request(id: 5, data: [1], limit: .seconds(900))
    var requests = port.requests.makeAsyncIterator()
    let request = try #require(await requests.next())
    #expect(request.message.id == 5)
    request.reply(request.message.data + [7])
    #expect(try await reply == [1, 7])
    port.requests.invalidate()
    #expect(!port.isValid)
    #expect(await requests.next() == nil)
}

private func error(of body: () throws -> Void) -> UVRunLoop.MessagePortError? {
    do {
        try body()
        return nil
    } catch {
        return error as? UVRunLoop.MessagePortError
    }
}
