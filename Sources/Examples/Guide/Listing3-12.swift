// Listing 3-12: the main thread makes a port, installs it on its loop, and launches a worker that
// gets the port. `UVRunLoop.Port` stands for `NSMachPort`, its handler for the delegate, and
// `add(_:forMode:)` for `addPort:forMode:`.

import UVRunLoop

/// The main thread's side of the conversation, used on its thread only.
final class MainThread {
    let log: Log
    /// The worker's port, once it has checked in.
    var distantPort: UVRunLoop.Port?
    /// The worker's reply to a request.
    var answer: Int?

    init(log: Log) { self.log = log }

    /// Launches a worker, which may reply before this returns: its messages wait in the port.
    func launchThread() throws -> UVRunLoop.Thread {
        let port = UVRunLoop.Port { _, message in self.handlePortMessage(message) }
        UVRunLoop.current.add(port, forMode: .default)
        // Ports are `Sendable`; their handlers stay on the thread that made them.
        return try startThread("worker") { [log] in
            MyWorker.launchThread(with: port, log: log)
        }
    }

    /// Tells the worker to exit and waits for it.
    func end(_ thread: UVRunLoop.Thread) {
        _ = distantPort?.send(UVRunLoop.PortMessage(id: PortMessageID.exit))
        thread.join()
    }
}

/// A worker is launched and checks in.
func launchAThread(_ log: Log) throws {
    let main = MainThread(log: log)
    let thread = try main.launchThread()
    runCurrentLoop { main.distantPort != nil }
    log.note("main: both sides can send")
    main.end(thread)
}
