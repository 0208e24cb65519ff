// Listing 3-19: the worker's part: it finds the main thread's port by name, installs a port of its
// own, and checks in with that port's name. `send(id:data:)` stands for `CFMessagePortSendRequest`;
// `UVRunLoop.Thread` does what `CFRunLoopRun` does at the end.

import UVRunLoop
import UVRunLoopPorts

/// Sets the worker up, on its thread, before its loop runs.
func serverThreadMain(_ mainThreadPortName: String, _ log: Log) {
    do {
        let mainThreadPort = try UVRunLoop.MessagePort.remote(named: mainThreadPortName)

        let name = PortNames.unique("com.MyApp.Thread")
        let port = try UVRunLoop.MessagePort.local(named: name) { _, message in
            processClientRequest(message, log)
        }
        // The loop retains the port from now on.
        UVRunLoop.current.add(port, forMode: .default)

        log.note("worker: I check in")
        try mainThreadPort.send(id: PortMessageID.checkIn, data: Array(name.utf8))
    } catch {
        log.note("worker: I give up: \(error)")
        UVRunLoop.Thread.current?.stop()
    }
}

/// Called on the worker's thread with each message; what it returns is the reply.
func processClientRequest(_ message: UVRunLoop.MessagePort.Message, _ log: Log) -> [UInt8]? {
    log.note("worker: message \(message.id)")
    guard message.id == PortMessageID.request else { return nil }
    return message.data.reversed()
}

/// A worker checks in, and then replies to a request of the main thread.
func setUpAThread(_ log: Log) throws {
    let activeThreads = ActiveThreads()
    let worker = try spawnThread(activeThreads, log)
    runCurrentLoop { !activeThreads.ports.isEmpty }

    let reply = try activeThreads.ports.first?.send(
        id: PortMessageID.request,
        data: Array("stressed".utf8),
        replyMode: .connectionReply
    )
    log.note("main: the reply is \(String(decoding: reply ?? [], as: UTF8.self))")

    worker.stop()
    worker.join()
}
