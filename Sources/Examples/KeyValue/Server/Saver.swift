import UVRunLoop

/// Writes snapshots on a thread of its own, which waits for them in its run loop.
///
/// The server's loop and the thread's talk through two ports: the snapshot goes one way, and how it
/// went comes back. The thread is started for the first snapshot.
final class Saver {
    private static let writeSnapshot: Int32 = 1

    private let file: SnapshotFile
    /// Where the thread's answers arrive, on the server's loop.
    private let answers: UVRunLoop.Port
    /// Where snapshots are sent to, on the thread's loop.
    private var orders: UVRunLoop.Port?
    private var thread: UVRunLoop.Thread?
    private var hasClaim = false

    /// The handler is called on this thread's loop after each snapshot, with what was wrong.
    init(_ file: SnapshotFile, handler: @escaping (FileError?) -> Void) {
        self.file = file
        answers = UVRunLoop.Port { _, message in
            handler(message.value(as: FileError.self))
        }
        UVRunLoop.current.add(answers, forMode: .default)
    }

    /// Makes this server the only one that saves in its directory.
    func claim() throws(FileError) {
        guard !hasClaim else { return }
        try file.claim()
        hasClaim = true
    }

    /// Sends a snapshot to be written; the handler is told when that is done.
    func save(_ snapshot: Snapshot) {
        do throws(FileError) {
            try claim()
            let orders = try startedThread()
            let message = UVRunLoop.PortMessage(
                id: Self.writeSnapshot,
                components: [.value(snapshot)],
                replyPort: answers
            )
            // There is one snapshot at a time, so there is room for it.
            _ = orders.send(message, limit: .zero)
        } catch {
            _ = answers.send(UVRunLoop.PortMessage(components: [.value(error)]), limit: .zero)
        }
    }

    private func startedThread() throws(FileError) -> UVRunLoop.Port {
        if let orders { return orders }
        let thread: UVRunLoop.Thread
        do {
            thread = try UVRunLoop.Thread(name: "saver")
        } catch {
            throw FileError("cannot start a thread: \(error)")
        }
        let orders = UVRunLoop.Port(sendableHandler: { [file] _, message in
            Self.carryOut(message, file)
        })
        thread.runLoop.add(orders, forMode: .default)
        self.thread = thread
        self.orders = orders
        return orders
    }

    /// The thread's part.
    private static func carryOut(_ message: UVRunLoop.PortMessage, _ file: SnapshotFile) {
        guard let snapshot = message.value(as: Snapshot.self) else { return }
        var answer = UVRunLoop.PortMessage(id: message.id)
        do throws(FileError) {
            try file.write(snapshot)
        } catch {
            answer.components = [.value(error)]
        }
        _ = message.replyPort?.send(answer)
    }

    /// Lets the thread end, and waits for that.
    func stop() {
        answers.invalidate()
        thread?.stop()
        thread?.join()
        (thread, orders) = (nil, nil)
    }
}
