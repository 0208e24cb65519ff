import Glibc
import UVRunLoop
import UVRunLoopPorts

// Listeners and their settings.

extension Server {
    /// Opens the listeners; ends the program if one cannot be opened.
    func listen() {
        for text in options.addresses {
            let port = UInt16(interpreter.facts.port)
            guard let address = try? UVRunLoop.SocketAddress(host: text, port: port) else {
                fail("\(text) is not an address in numbers")
            }
            let listener = listen(at: address)
            if let port = listener.localAddress?.port { interpreter.facts.port = Int(port) }
        }
        if let path = options.socketPath { listen(at: .unix(path)) }
        for address in listeners.compactMap(\.localAddress) {
            say("KeyValue listens at \(address)")
        }
    }

    @discardableResult
    private func listen(at address: UVRunLoop.SocketAddress) -> UVRunLoop.SocketPort {
        var how = UVRunLoop.SocketPort.ListenOptions()
        how.replacesStaleSocket = true
        do {
            let listener = try UVRunLoop.SocketPort(
                listeningAt: address,
                options: how,
                handler: { [unowned self] listener, event in
                    switch event {
                    case .accepted(let port): accept(port)
                    case .failed(let error): fail("cannot listen any more: \(error)")
                    default: break
                    }
                }
            )
            listeners.append(listener)
            loop.add(listener, forMode: .default)
            return listener
        } catch {
            fail("cannot listen at \(address): \(error)")
        }
    }

    private func accept(_ port: UVRunLoop.SocketPort) {
        interpreter.facts.connectionsReceived += 1
        guard connections.count < interpreter.facts.mostClients else {
            interpreter.facts.connectionsRejected += 1
            return refuse(port)
        }
        lastNumber += 1
        let connection = Connection(
            port,
            number: lastNumber,
            outputLimit: interpreter.facts.outputLimit
        )
        connections[lastNumber] = connection
        interpreter.facts.clients = connections.count
        // The port, the connection and this closure retain each other until the port is invalid.
        port.setHandler { [self] _, event in handle(event, of: connection) }
        loop.add(port, forMode: .default)
    }

    /// Refuses a client.
    ///
    /// The connection is not closed at once: with a command of the client unread, the system would
    /// reset it, and the client might lose the reply.
    private func refuse(_ port: UVRunLoop.SocketPort) {
        port.setHandler { port, event in
            if case .failed = event { port.invalidate() }
        }
        port.send(Array("-ERR max number of clients reached\r\n".utf8))
        port.endSending()
        loop.add(port, forMode: .default)
        let limit = UVRunLoop.Timer(after: .seconds(1)) { _ in port.invalidate() }
        loop.add(limit, forMode: .default)
    }

    /// The facts that do not change while the server runs.
    static func facts(_ options: Options, _ file: SnapshotFile) -> Facts {
        var facts = Facts()
        facts.processID = Int(getpid())
        facts.port = Int(options.port)
        facts.address = options.addresses.joined(separator: " ")
        facts.socketPath = options.socketPath ?? ""
        facts.directory = file.directory
        facts.fileName = file.name
        facts.residentBytes = { residentBytes() }
        facts.start = .now
        facts.lastSave = facts.start
        facts.mostClients = mostClients(options.mostClients)
        return facts
    }

    /// As many clients as requested, or as there are descriptors for.
    private static func mostClients(_ wanted: Int) -> Int {
        // Descriptors besides clients: listeners, the loops, files, and the three standard ones.
        let others = 64
        let descriptors = allowDescriptors(wanted.addingReportingOverflow(others).partialValue)
        guard descriptors < wanted + others else { return wanted }
        let possible = max(descriptors - others, 1)
        complain("the system permits \(descriptors) descriptors: --maxclients is \(possible) now")
        return possible
    }
}
