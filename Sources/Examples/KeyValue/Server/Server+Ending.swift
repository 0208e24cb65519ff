import Glibc
import UVRunLoop
import UVRunLoopPorts

// How clients leave, and how the server ends.

extension Server {
    /// How long a client may take to leave after its last reply.
    private static let patience = Duration.seconds(30)
    /// How long that is when the server ends.
    private static let lastPatience = Duration.seconds(5)
    private static let sweepInterval = Duration.milliseconds(20)

    // MARK: Clients

    /// Sends a client no more than it has been sent, and waits until it leaves.
    ///
    /// To close at once would be quicker, but where a client has sent more than was read, the
    /// system then drops the last replies.
    func letLeave(_ connection: Connection) {
        connection.port.endSending()
        guard connection.port.isValid else { return forget(connection) }
        let limit = phase == .draining ? Self.lastPatience : Self.patience
        if leaving.isEmpty { sweepTimer.nextFireDate = loop.now + Self.sweepInterval }
        leaving.append((connection, loop.now + limit))
    }

    /// Forgets a client for good.
    func forget(_ connection: Connection) {
        connection.state = .ending
        connection.port.invalidate()
        guard connections.removeValue(forKey: connection.client.number) != nil else { return }
        interpreter.facts.clients = connections.count
        endIfAllHaveLeft()
    }

    /// Ends the loop's run once the last client of a server that ends has left, however it did.
    private func endIfAllHaveLeft() {
        if phase == .draining, connections.isEmpty { loop.stop() }
    }

    /// Closes the sockets of those who had time enough.
    func sweepLeaving() {
        leaving.removeAll { connection, deadline in
            let hasLeft = !connection.port.isValid
            let hasAllReplies = phase == .draining && connection.port.queuedBytes == 0
            guard hasLeft || hasAllReplies || deadline <= loop.now else { return false }
            forget(connection)
            return true
        }
        if !leaving.isEmpty { sweepTimer.nextFireDate = loop.now + Self.sweepInterval }
        endIfAllHaveLeft()
    }

    // MARK: The server

    /// Ends the server at the first signal in good order, and at the second at once.
    func watchSignals() {
        for number in [SIGTERM, SIGINT] {
            do {
                let source = try UVRunLoop.SignalSource(number) { [unowned self] _, count in
                    // Also if the server went on after the first one, because a save had failed.
                    if phase != .serving || hasSignal || count > 1 { exit(128 + number) }
                    hasSignal = true
                    stop(saving: options.directory != nil, for: nil)
                }
                signals.append(source)
                loop.add(source, forMode: .default)
            } catch {
                fail("cannot watch signals: \(error)")
            }
        }
    }

    /// Ends the server, after a last snapshot if that is wanted.
    func stop(saving: Bool, for connection: Connection?) {
        guard phase == .serving else { return }
        if !saving, savers.isEmpty { return drain() }
        // From here on no command is carried out: what it did would be in no snapshot.
        phase = .saving
        for listener in listeners { loop.remove(listener, forMode: .default) }
        if saving {
            save(for: .end(connection))
        } else {
            savers.append(.endAnyway)
        }
    }

    /// The last snapshot is written; if it could not be, the keys are only here, so we go on.
    func goOnEnding(_ connection: Connection?, _ failure: FileError?) {
        if failure == nil { return drain() }
        complain("goes on, because the keys are not saved")
        complain("SHUTDOWN NOSAVE ends it nevertheless, and so does a second signal")
        phase = .serving
        for listener in listeners { loop.add(listener, forMode: .default) }
        if let connection, connection.state == .awaitingSave {
            connection.didSave()
            reply(to: connection) { $0.error("ERR Errors trying to SHUTDOWN. Check logs.") }
        }
        for connection in connections.values {
            connection.resumeReading()
            runCommands(of: connection)
        }
    }

    /// Sends what was written, and ends the loop's run when it is sent.
    func drain() {
        guard phase != .draining else { return }
        phase = .draining
        for listener in listeners { listener.invalidate() }
        for connection in connections.values { end(connection) }
        leaving = leaving.map { ($0.connection, loop.now + Self.lastPatience) }
        sweepTimer.nextFireDate = loop.now
    }
}
