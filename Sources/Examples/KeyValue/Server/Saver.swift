import UVRunLoop

/// Writes snapshots on its own thread, which waits for them in its run loop.
///
/// The two loops communicate through two ports: one carries the snapshot, the other the result. The
/// thread is started for the first snapshot.
final class Saver {
    private static let writeSnapshot: Int32 = 1

    private let file: SnapshotFile
    /// Receives the thread's results, on the server's loop.
    private let results: UVRunLoop.Port
    /// Receives snapshots, on the thread's loop.
    private var orders: UVRunLoop.Port?
    private var thread: UVRunLoop.Thread?
    private var hasClaim = false

    /// The handler is called on this thread's loop after each snapshot, with the error if there was
    /// one.
    init(_ file: SnapshotFile, handler: @escaping (FileError?) -> Void) {
        self.file = file
        results = UVRunLoop.Port { _, message in
            handler(message.value(as: FileError.self))
        }
        UVRunLoop.current.add(results, forMode: .default)
    }

    /// Locks the directory, so that no other server saves in it.
    func claim() throws(FileError) {
        guard !hasClaim else { return }
        try file.claim()
        hasClaim = true
    }

    /// Starts writing a snapshot; the handler is called when it is done.
    func save(_ snapshot: Snapshot) {
        do throws(FileError) {
            try claim()
            let orders = try startedThread()
            let message = UVRunLoop.PortMessage(
                id: Self.writeSnapshot,
                components: [.value(snapshot)],
                replyPort: results
            )
            // There is one snapshot at a time, so the port has room for it.
            _ = orders.send(message, limit: .zero)
        } catch {
            _ = results.send(UVRunLoop.PortMessage(components: [.value(error)]), limit: .zero)
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

    /// Runs on the thread: writes one snapshot.
    private static func carryOut(_ message: UVRunLoop.PortMessage, _ file: SnapshotFile) {
        guard let snapshot = message.value(as: Snapshot.self) else { return }
        var result = UVRunLoop.PortMessage(id: message.id)
        do throws(FileError) {
            try file.write(snapshot)
        } catch {
            result.components = [.value(error)]
        }
        _ = message.replyPort?.send(result)
    }

    /// Ends the thread and waits for it.
    func stop() {
        results.invalidate()
        thread?.stop()
        thread?.join()
        (thread, orders) = (nil, nil)
    }
}
