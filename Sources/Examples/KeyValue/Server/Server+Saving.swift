import UVRunLoop

/// Who requested a snapshot, and what follows it.
enum SaveReason {
    /// A client that gets a reply when it is written.
    case client(Connection)
    /// The server shuts down afterwards; this client requested it.
    case end(Connection?)
    /// The server shuts down afterwards, whatever the result.
    case endAnyway
}

// Snapshots.

extension Server {
    /// Writes a snapshot of the current keys.
    ///
    /// One that is in progress may lack later writes, so requests that arrive meanwhile share the
    /// next one.
    func save(for reason: SaveReason) {
        guard savers.isEmpty else {
            nextSavers.append(reason)
            return
        }
        savers = [reason]
        beginSaving()
    }

    private func beginSaving() {
        interpreter.facts.isSaving = true
        saver.save(interpreter.keyspace.snapshot(at: .now))
    }

    /// The result port was served: a snapshot was written, or failed.
    func didSave(failure: FileError?) {
        let told = savers
        savers = nextSavers
        nextSavers = []
        interpreter.facts.isSaving = false
        interpreter.facts.lastSaveFailed = failure != nil
        if let failure {
            complain(failure.text)
        } else {
            interpreter.facts.lastSave = .now
        }
        if !savers.isEmpty { beginSaving() }
        for reason in told {
            switch reason {
            case .client(let connection): tell(connection, failure)
            case .end(let connection): goOnEnding(connection, failure)
            case .endAnyway: drain()
            }
        }
    }

    private func tell(_ connection: Connection, _ failure: FileError?) {
        // The client may have disconnected meanwhile.
        guard connection.state == .awaitingSave else { return }
        connection.didSave()
        reply(to: connection) { reply in
            if let failure { reply.error("ERR \(failure.text)") } else { reply.ok() }
        }
        runCommands(of: connection)
    }
}
