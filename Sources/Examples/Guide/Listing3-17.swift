// Listing 3-17: the main thread installs a message port and launches a worker, which gets only the
// name of the port. `MessagePort.local(named:)` stands for `CFMessagePortCreateLocal` and
// `CFMessagePortCreateRunLoopSource`, `UVRunLoop.Thread` for `MPCreateTask`.

import UVRunLoop
import UVRunLoopPorts

/// 256 KiB of stack are enough for the worker; Apple's listing has 32.
private let threadStackSize = 256 * 1024

/// Launches a worker that checks in with this thread's loop.
func spawnThread(_ activeThreads: ActiveThreads, _ log: Log) throws -> UVRunLoop.Thread {
    let name = PortNames.unique("com.myapp.MainThread")
    let port = try UVRunLoop.MessagePort.local(named: name) { _, message in
        handleMainThreadMessage(message, activeThreads, log)
    }
    UVRunLoop.current.add(port, forMode: .default)
    log.note("main: the port is installed")

    return try UVRunLoop.Thread(name: "worker", stackSize: threadStackSize) {
        serverThreadMain(name, log)
    }
}

/// The threads that have checked in; used on the main thread only.
final class ActiveThreads {
    var ports: [UVRunLoop.MessagePort.Remote] = []
}

/// A worker is launched, checks in, and is ended.
func attachAMessagePort(_ log: Log) throws {
    let activeThreads = ActiveThreads()
    let worker = try spawnThread(activeThreads, log)
    runCurrentLoop { !activeThreads.ports.isEmpty }
    worker.stop()
    worker.join()
    log.note("main: the worker is gone")
}
