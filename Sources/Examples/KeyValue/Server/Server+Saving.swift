import UVRunLoop

/// Who wants a snapshot, and what follows from it.
enum SaveReason {
    /// A client that is told when it is written.
    case client(Connection)
    /// The server is to end afterwards; the client is the one who said so.
    case end(Connection?)
    /// The server is to end afterwards, however that went.
    case endAnyway
}

// Snapshots.

extension Server {
    /// Writes a snapshot of what is here now.
    ///
    /// One that is under way may lack what was written since it began, so those who come meanwhile
    /// share the next one.
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

    /// The port for answers was served: a snapshot is written, or could not be.
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
        // It may have been ended meanwhile: then nobody waits.
        guard connection.state == .awaitingSave else { return }
        connection.didSave()
        reply(to: connection) { reply in
            if let failure { reply.error("ERR \(failure.text)") } else { reply.ok() }
        }
        runCommands(of: connection)
    }
}
