import Glibc
import UVRunLoop
import UVRunLoopPorts

// How clients disconnect, and how the server shuts down.

extension Server {
    /// How long a client may stay connected after its last reply.
    private static let patience = Duration.seconds(30)
    /// The same when the server shuts down.
    private static let lastPatience = Duration.seconds(5)
    private static let sweepInterval = Duration.milliseconds(20)

    // MARK: Clients

    /// Sends a client its remaining replies and waits until it disconnects.
    ///
    /// Closing at once would be quicker, but the system resets a connection with unread input,
    /// which may drop the last replies.
    func letLeave(_ connection: Connection) {
        connection.port.endSending()
        guard connection.port.isValid else { return forget(connection) }
        let limit = phase == .draining ? Self.lastPatience : Self.patience
        if leaving.isEmpty { sweepTimer.nextFireDate = loop.now + Self.sweepInterval }
        leaving.append((connection, loop.now + limit))
    }

    /// Removes a client.
    func forget(_ connection: Connection) {
        connection.state = .ending
        connection.port.invalidate()
        guard connections.removeValue(forKey: connection.client.number) != nil else { return }
        interpreter.facts.clients = connections.count
        endIfAllHaveLeft()
    }

    /// Stops the loop once the last client of a server that shuts down has disconnected.
    private func endIfAllHaveLeft() {
        if phase == .draining, connections.isEmpty { loop.stop() }
    }

    /// Closes the sockets of clients whose time is up.
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

    /// Shuts down in good order at the first signal, and at once at the second.
    func watchSignals() {
        for number in [SIGTERM, SIGINT] {
            do {
                let source = try UVRunLoop.SignalSource(number) { [unowned self] _, count in
                    // A first signal whose save failed left the server running; this one still ends
                    // it.
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

    /// Shuts down, after a final snapshot if requested.
    func stop(saving: Bool, for connection: Connection?) {
        guard phase == .serving else { return }
        if !saving, savers.isEmpty { return drain() }
        // No command is executed from here on: its effect would be missing from the snapshot.
        phase = .saving
        for listener in listeners { loop.remove(listener, forMode: .default) }
        if saving {
            save(for: .end(connection))
        } else {
            savers.append(.endAnyway)
        }
    }

    /// The final snapshot was written.
    ///
    /// If it failed, the keys exist only in memory, so the server goes on.
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

    /// Sends the buffered replies, and stops the loop once they are sent.
    func drain() {
        guard phase != .draining else { return }
        phase = .draining
        for listener in listeners { listener.invalidate() }
        for connection in connections.values { end(connection) }
        leaving = leaving.map { ($0.connection, loop.now + Self.lastPatience) }
        sweepTimer.nextFireDate = loop.now
    }
}
