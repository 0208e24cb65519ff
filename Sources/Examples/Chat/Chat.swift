import Glibc
import UVRunLoop
import UVRunLoopPorts

/// A room in which everybody gets the lines of everybody else.
///
/// All of it happens on the thread of one loop, so it needs no lock.
final class Chat {
    /// The longest line in bytes.
    private static let lineLength = 1_000
    /// How long a guest that was dismissed may take to read why.
    private static let patience = Duration.seconds(5)

    /// Somebody in the room.
    private struct Guest {
        let connection: UVRunLoop.SocketPort
        let name: String
        /// A line that has begun.
        var line: [UInt8] = []
    }

    private let group: UVRunLoop.ConnectionGroup
    private var guests: [ObjectIdentifier: Guest] = [:]
    private var guestCount = 0

    init(on loop: UVRunLoop) {
        group = UVRunLoop.ConnectionGroup(on: loop) { connection in
            connection.send("* The server ends.\n".utf8)
            connection.endSending()
        }
    }

    /// Returns where the server listens.
    func listen(
        at address: UVRunLoop.SocketAddress
    ) throws(UVRunLoop.SocketError) -> UVRunLoop.SocketAddress {
        let listener = try group.listen(at: address) { [unowned self] port, event in
            switch event {
            case .accepted(let connection): enter(connection)
            case .received(let bytes): receive(bytes, from: port)
            case .ended:
                leave(port)
                port.endSending()
            case .failed: leave(port)
            case .connected, .drained: break
            }
        }
        return listener.localAddress ?? address
    }

    func end(limit: Duration, _ completion: @escaping (UVRunLoop.ConnectionGroup.Outcome) -> Void) {
        group.end(limit: limit, completion: completion)
    }

    // MARK: The guests

    private func enter(_ connection: UVRunLoop.SocketPort) {
        guestCount += 1
        let guest = Guest(connection: connection, name: "guest\(guestCount)")
        guests[ObjectIdentifier(connection)] = guest
        connection.send("* You are \(guest.name).\n".utf8)
        tell("* \(guest.name) has come.\n", except: connection)
    }

    private func leave(_ connection: UVRunLoop.SocketPort) {
        guard let guest = guests.removeValue(forKey: ObjectIdentifier(connection)) else { return }
        tell("* \(guest.name) has left.\n", except: connection)
    }

    private func receive(_ bytes: [UInt8], from connection: UVRunLoop.SocketPort) {
        guard let guest = guests[ObjectIdentifier(connection)] else { return }
        var line = guest.line + bytes
        while let end = line.firstIndex(of: UInt8(ascii: "\n")), end <= Self.lineLength {
            let text = String(decoding: line[..<end], as: UTF8.self)
            line.removeSubrange(...end)
            tell("\(guest.name): \(text)\n", except: connection)
        }
        // A guest that was dropped meanwhile, because it does not read, stays out.
        guests[ObjectIdentifier(connection)]?.line = line
        if line.count > Self.lineLength { dismiss(connection, "a line is too long") }
    }

    private func tell(_ text: String, except sender: UVRunLoop.SocketPort) {
        for guest in guests.values where guest.connection !== sender {
            guest.connection.send(text.utf8)
            // A guest that does not read must not fill the memory.
            if guest.connection.isAboveHighMark {
                guest.connection.invalidate()
                leave(guest.connection)
            }
        }
    }

    private func dismiss(_ connection: UVRunLoop.SocketPort, _ reason: String) {
        connection.send("* Good-bye: \(reason).\n".utf8)
        connection.endSending()
        leave(connection)
        // The peer may never end.
        let limit = UVRunLoop.Timer(after: Self.patience) { _ in connection.invalidate() }
        group.loop.add(limit, forMode: group.mode)
    }
}

/// Writes a line at once, also to a pipe; ends the program if nobody can read what it is for.
func say(_ line: String, to descriptor: CInt = STDOUT_FILENO) {
    let bytes = Array((line + "\n").utf8)
    guard write(descriptor, bytes, bytes.count) >= 0 || descriptor == STDERR_FILENO else {
        perror("Chat")
        exit(1)
    }
}
