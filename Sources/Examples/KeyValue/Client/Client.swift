import UVRunLoop
import UVRunLoopPorts

/// A built-in client that sends one command.
final class Client {
    private let loop = UVRunLoop.current
    private var parser = ReplyParser()
    private var reply: ReplyValue?

    /// Sends a command and prints its reply.
    ///
    /// Returns the program's exit status.
    ///
    /// Errors are printed to standard error, with status 1; so is a connection that fails.
    static func send(_ words: [String], _ options: Options) -> CInt {
        let client = Client()
        do {
            switch try client.ask(words, at: options.addressOfServer()) {
            case .error(let text):
                complain(text)
                return 1
            case let reply?:
                let error = say(reply.text)
                if error != 0 { fail("cannot write: \(reason(error))") }
                return 0
            case nil:
                // QUIT and SHUTDOWN may have no reply.
                return 0
            }
        } catch {
            fail("cannot talk to the server: \(error)")
        }
    }

    private func ask(
        _ words: [String],
        at address: UVRunLoop.SocketAddress
    ) throws(UVRunLoop.SocketError) -> ReplyValue? {
        let port = try UVRunLoop.SocketPort(
            connectingTo: address,
            limit: .seconds(10),
            handler: { [unowned self] _, event in handle(event) }
        )
        loop.add(port, forMode: .default)
        port.send(Self.encode(words))
        loop.run()
        port.invalidate()
        return reply
    }

    private func handle(_ event: UVRunLoop.SocketPort.Event) {
        switch event {
        case .received(let bytes):
            parser.append(bytes)
            do throws(ReplyParser.Malformed) {
                reply = try parser.next()
            } catch {
                fail("the peer does not speak this protocol")
            }
            if reply != nil { loop.stop() }
        case .failed(let error):
            fail("cannot talk to the server: \(error)")
        case .ended: loop.stop()
        case .connected, .accepted, .drained: break
        }
    }

    private static func encode(_ words: [String]) -> [UInt8] {
        var request = Reply()
        request.array(words.count)
        for word in words { request.bulk(word) }
        return request.bytes
    }
}

extension Options {
    /// The address at which the client finds the server.
    fileprivate func addressOfServer() throws(UVRunLoop.SocketError) -> UVRunLoop.SocketAddress {
        if let socketPath { return try UVRunLoop.SocketAddress(unixPath: socketPath) }
        return try UVRunLoop.SocketAddress(host: addresses.first ?? "127.0.0.1", port: port)
    }
}
