import BenchSupport
import Glibc
import Synchronization
import UVRunLoop
import UVRunLoopPorts

extension Call {
    /// The calls that send messages.
    static var ports: [Call] {
        [
            port("Port.send, with room", capacity: 1 << 24),
            port("Port.send, waiting for room", capacity: 1_024),
            remoteSend,
            remoteLookup,
            ownServers,
            localPorts,
        ]
    }

    private static func port(_ name: String, capacity: Int) -> Call {
        Call(name) { _ in
            let served = ServedLoop()
            let drained = Latch()
            let port = UVRunLoop.Port(
                capacity: capacity,
                sendableHandler: { _, message in if message.id == 1 { drained.open() } }
            )
            served.loop.add(port, forMode: .default)
            return Workload(
                call: { _, _ in send(0, to: port) },
                finish: {
                    send(1, to: port)
                    drained.wait()
                },
                cleanUp: served.end
            )
        }
    }

    private static func send(_ id: Int32, to port: UVRunLoop.Port) {
        let isSent = port.send(UVRunLoop.PortMessage(id: id))
        if !isSent { fail("A port did not take a message.") }
    }

    // MARK: Message ports

    private static var remoteSend: Call {
        Call("MessagePort.Remote.send") { _ in
            let server = MessageServer()
            let remote = server.connect()
            let data = [UInt8](repeating: 7, count: 64)
            return Workload(
                call: { _, _ in server.send(data, to: remote) },
                finish: { server.drain(remote) },
                cleanUp: server.end
            )
        }
    }

    private static var remoteLookup: Call {
        Call("MessagePort.remote(named:), known name") { _ in
            let server = MessageServer()
            let remote = server.connect()
            return Workload(
                call: { _, _ in use(server.connect()) },
                cleanUp: {
                    remote.invalidate()
                    server.end()
                }
            )
        }
    }

    /// Servers and clients in pairs, which share nothing but what the process has.
    private static var ownServers: Call {
        Call("MessagePort.Remote.send, own servers") { threads in
            let servers = (0..<threads).map { _ in MessageServer() }
            let remotes = servers.map { $0.connect() }
            let data = [UInt8](repeating: 7, count: 64)
            return Workload(
                call: { thread, _ in servers[thread].send(data, to: remotes[thread]) },
                finish: { for (server, remote) in zip(servers, remotes) { server.drain(remote) } },
                cleanUp: { servers.forEach { $0.end() } }
            )
        }
    }
}

extension Call {
    /// Names of their own, taken and given back.
    private static var localPorts: Call {
        Call("MessagePort.local(named:) and invalidate()") { _ in
            Workload { thread, _ in
                do {
                    let port = try UVRunLoop.MessagePort.local(
                        named: "contention-\(getpid())-own-\(thread)",
                        sendableHandler: { _, _ in nil }
                    )
                    port.invalidate()
                } catch {
                    fail("A message port could not be made: \(error)")
                }
            }
        }
    }
}

/// A local message port of this process, on a loop of its own.
private final class MessageServer: Sendable {
    private static let count = Atomic(0)

    private let name: String
    private let served = ServedLoop()
    private let drained = Latch()
    private let port: UVRunLoop.MessagePort.Local

    init() {
        let number = Self.count.add(1, ordering: .relaxed).newValue
        name = "contention-\(getpid())-\(number)"
        do {
            port = try UVRunLoop.MessagePort.local(
                named: name,
                sendableHandler: { [drained] _, message in
                    if message.id == 1 { drained.open() }
                    return nil
                }
            )
        } catch {
            fail("A message port could not be made: \(error)")
        }
        served.loop.add(port, forMode: .default)
    }

    func connect() -> UVRunLoop.MessagePort.Remote {
        do {
            return try UVRunLoop.MessagePort.remote(named: name)
        } catch {
            fail("A message port could not be reached: \(error)")
        }
    }

    func send(_ data: [UInt8], id: Int32 = 0, to remote: UVRunLoop.MessagePort.Remote) {
        do {
            try remote.send(id: id, data: data)
        } catch {
            fail("A message could not be sent: \(error)")
        }
    }

    /// Waits until everything that was sent has been handled.
    func drain(_ remote: UVRunLoop.MessagePort.Remote) {
        send([], id: 1, to: remote)
        drained.wait()
    }

    func end() {
        port.invalidate()
        served.end()
    }
}
