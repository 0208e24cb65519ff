import UVRunLoop
import UVRunLoopPorts

// What clients send, and what they get.

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
        // One who is told why it is refused is read to its end, or the reason might not arrive.
        guard connection.state != .ending else { return }
        do throws(ProtocolError) {
            try connection.parser.append(bytes)
        } catch {
            return refuse(connection, error)
        }
        runCommands(of: connection)
        if phase != .serving { connection.port.pauseReading() }

        // As long as clients send without waiting for replies, the loop does not wait either.
        readsSinceFlush += 1
        if readsSinceFlush >= 256 { flush() }
    }

    /// Carries out what has arrived whole, as far as the client may go on.
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

    /// The interpreter writes behind what this client is to read already.
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

    /// Writes a reply that does not come from a command at hand.
    func reply(to connection: Connection, _ body: (inout Reply) -> Void) {
        body(&connection.reply)
        list(connection)
    }

    /// Has a client looked after when replies are sent.
    private func list(_ connection: Connection) {
        guard !connection.isListed else { return }
        connection.isListed = true
        listed.append(connection)
    }

    /// Step 6 of a pass: nothing more can be read now, so the replies leave, one write per client.
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

    /// Keeps memory for the next who has replies.
    private func giveUp(_ reply: inout Reply) {
        if spareReplies.count < 256 { spareReplies.append(reply) }
        reply = Reply()
    }

    /// Tells a client what is wrong with what it sends, and ends the conversation.
    private func refuse(_ connection: Connection, _ error: ProtocolError) {
        reply(to: connection) { $0.error(error.text) }
        end(connection)
    }

    /// Ends a conversation when all replies are sent.
    func end(_ connection: Connection) {
        guard connection.state != .ending else { return }
        connection.state = .ending
        list(connection)
    }
}
