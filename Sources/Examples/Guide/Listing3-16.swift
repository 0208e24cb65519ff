// Listing 3-16: a port with a name, by which other threads and processes find it.
// `MessagePort.local(named:)` stands for `NSMessagePort` together with `registerPort:name:`, and
// `MessagePort.remote(named:)` for the name server's `portForName:`.

import Glibc
import Synchronization
import UVRunLoop
import UVRunLoopPorts

/// Makes a port with a name, and installs it on the calling thread's loop.
func registerPort(
    _ name: String,
    handler: @escaping (UVRunLoop.MessagePort.Message) -> Void
) throws -> UVRunLoop.MessagePort.Local {
    let port = try UVRunLoop.MessagePort.local(named: name) { _, message in
        handler(message)
        return nil
    }
    UVRunLoop.current.add(port, forMode: .default)
    return port
}

/// Another thread finds the port by its name and sends it a message.
func registerAMessagePort(_ log: Log) throws {
    let name = PortNames.unique("MyPortName")
    var isThere = false
    let port = try registerPort(name) { message in
        log.note("message \(message.id): \(String(decoding: message.data, as: UTF8.self))")
        isThere = true
    }

    let sender = try startThread("sender") {
        do {
            let remote = try UVRunLoop.MessagePort.remote(named: name)
            try remote.send(id: PortMessageID.request, data: Array("hello".utf8))
        } catch {
            log.note("the message did not go: \(error)")
        }
    }
    runCurrentLoop { isThere }
    sender.join()

    let again = try registerPort(name) { _ in }
    log.note("within a process a name means one port: \(again === port)")

    port.invalidate()
    do {
        _ = try UVRunLoop.MessagePort.remote(named: name)
    } catch {
        log.note("without a port to the name: \(error)")
    }
}

/// Names for the ports of these listings.
enum PortNames {
    private static let count = Atomic<Int>(0)

    /// Names are shared by all processes of a user, and the listings may run several times at once.
    static func unique(_ name: String) -> String {
        "\(name)-\(getpid())-\(count.add(1, ordering: .relaxed).newValue)"
    }
}
