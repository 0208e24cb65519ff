import UVRunLoop
import UVRunLoopPorts

// Requests and replies.

extension Server {
    /// A port-based source was served: a client's socket.
    func handle(_ event: UVRunLoop.SocketPort.Event, of connection: Connection) {
        switch event {
        case .received(let bytes):
            interpreter.facts.bytesReceived += bytes.count
            receive(bytes, from: connection)
        case .drained:
            connection.didDrain()
            runCommands(of: connection)
        case .ended:
            connection.hasEnded = true
            if connection.state == .ending {
                forget(connection)
            } else {
                runCommands(of: connection)
            }
        case .failed:
            forget(connection)
        case .connected, .accepted:
            break
        }
    }

    private func receive(_ bytes: [UInt8], from connection: Connection) {
        // A client that is refused is read to its end; closing earlier could drop the error reply.
        guard connection.state != .ending else { return }
        do throws(ProtocolError) {
            try connection.parser.append(bytes)
        } catch {
            return refuse(connection, error)
        }
        runCommands(of: connection)
        if phase != .serving { connection.port.pauseReading() }

        // While clients send without waiting for replies, the loop does not sleep and the observer
        // does not fire.
        readsSinceFlush += 1
        if readsSinceFlush >= 256 { flush() }
    }

    /// Executes the complete commands, as far as the client's state permits.
    func runCommands(of connection: Connection) {
        guard phase == .serving else { return }
        interpreter.now = .now
        lend(to: connection)
        var mistake: ProtocolError?
        do throws(ProtocolError) {
            while connection.mayRun, let request = try connection.parser.next() {
                let effect = interpreter.run(request)
                if effect != .none { carryOut(effect, for: connection) }
                if interpreter.reply.bytes.count > Connection.replySize {
                    interpreter.facts.bytesSent += interpreter.reply.bytes.count
                    connection.send(&interpreter.reply)
                }
            }
        } catch {
            mistake = error
        }
        takeBack(from: connection)
        if let mistake { refuse(connection, mistake) }
        if connection.hasEnded, connection.mayRun { end(connection) }
    }

    private func carryOut(_ effect: Interpreter.Effect, for connection: Connection) {
        switch effect {
        case .none: break
        case .close: end(connection)
        case .drop:
            interpreter.reply.removeAll()
            connection.port.invalidate()
            end(connection)
        case .save:
            connection.awaitSave()
            save(for: .client(connection))
        case .shutDown(let saving):
            connection.awaitSave()
            stop(saving: saving ?? (options.directory != nil), for: connection)
        }
    }

    // MARK: Replies

    /// Lends the interpreter the reply buffer that holds this client's earlier replies.
    private func lend(to connection: Connection) {
        if !connection.isListed, let spare = spareReplies.popLast() { connection.reply = spare }
        swap(&interpreter.reply, &connection.reply)
        swap(&interpreter.client, &connection.client)
    }

    private func takeBack(from connection: Connection) {
        swap(&interpreter.reply, &connection.reply)
        swap(&interpreter.client, &connection.client)
        if !connection.reply.bytes.isEmpty {
            list(connection)
        } else if !connection.isListed {
            giveUp(&connection.reply)
        }
    }

    /// Writes a reply that does not belong to a current command.
    func reply(to connection: Connection, _ body: (inout Reply) -> Void) {
        body(&connection.reply)
        list(connection)
    }

    /// Adds a client to those with unsent replies.
    private func list(_ connection: Connection) {
        guard !connection.isListed else { return }
        connection.isListed = true
        listed.append(connection)
    }

    /// Step 6 of a pass: no more can be read now, so the replies are sent, with one write per
    /// client.
    func flush() {
        readsSinceFlush = 0
        for connection in listed {
            connection.isListed = false
            interpreter.facts.bytesSent += connection.reply.bytes.count
            connection.send(&connection.reply)
            giveUp(&connection.reply)
            if connection.state == .ending { letLeave(connection) }
        }
        listed.removeAll(keepingCapacity: true)
        armExpiry()
    }

    /// Keeps a reply buffer for reuse.
    private func giveUp(_ reply: inout Reply) {
        if spareReplies.count < 256 { spareReplies.append(reply) }
        reply = Reply()
    }

    /// Sends a protocol error and ends the conversation.
    private func refuse(_ connection: Connection, _ error: ProtocolError) {
        reply(to: connection) { $0.error(error.text) }
        end(connection)
    }

    /// Ends a conversation once all replies are sent.
    func end(_ connection: Connection) {
        guard connection.state != .ending else { return }
        connection.state = .ending
        list(connection)
    }
}
