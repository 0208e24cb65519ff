import Injection
import UVRunLoop
import UVRunLoopPorts

extension Operation {
    static let sockets = [
        Operation("socket.tcp") { scene in
            try exchange(scene, at: .ipv4Loopback(port: 0))
        },
        Operation("socket.unix") { scene in
            let path = String(cString: work_directory()) + "/" + scene.name
            try exchange(scene, at: .unix(path))
        },
    ]
}

/// A server that sends back what it gets, and a client that sends a greeting.
private func exchange(_ scene: Scene, at address: UVRunLoop.SocketAddress) throws {
    let loop = try UVRunLoop.prepareCurrent()
    let greeting: [UInt8] = Array("hello".utf8)
    var accepted: [UVRunLoop.SocketPort] = []
    var failures: [String] = []
    defer { accepted.forEach { $0.invalidate() } }
    let server = try UVRunLoop.SocketPort(listeningAt: address) { _, event in
        if case .failed(let error) = event { failures.append("listener: \(error)") }
        guard case .accepted(let port) = event else { return }
        port.setHandler { port, event in
            switch event {
            case .received(let bytes): _ = port.send(bytes)
            case .ended: port.invalidateWhenDrained()
            case .failed(let error):
                failures.append("server: \(error)")
                loop.stop()
            default: break
            }
        }
        accepted.append(port)
        loop.add(port, forMode: .default)
    }
    defer { server.invalidate() }
    loop.add(server, forMode: .default)
    guard let place = server.localAddress else { throw Reported(what: "no local address") }
    var received: [UInt8] = []
    var hasEnded = false
    let client = try UVRunLoop.SocketPort(connectingTo: place, limit: scene.limit) { port, event in
        switch event {
        case .connected: _ = port.send(greeting)
        case .received(let bytes):
            received += bytes
            if received.count >= greeting.count { port.endSending() }
        case .ended:
            hasEnded = true
            port.invalidate()
            loop.stop()
        case .failed(let error):
            failures.append("client: \(error)")
            loop.stop()
        default: break
        }
    }
    defer { client.invalidate() }
    loop.add(client, forMode: .default)
    scene.run(loop)
    try scene.require(greeting.starts(with: received), "what came back is not what was sent")
    if let first = failures.first { throw Reported(what: first) }
    if !server.isValid { throw Reported(what: "the listener became invalid") }
    if !hasEnded, !client.isValid { throw Reported(what: "the client became invalid") }
    try scene.expect(received == greeting, "what was sent back: \(received.count) bytes of 5")
    try scene.expect(hasEnded, "the end of the connection")
}
