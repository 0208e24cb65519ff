// Listing 3-18: what the main thread does with a check-in: the message names the worker's port,
// which is looked up and kept. `MessagePort.remote(named:)` stands for `CFMessagePortCreateRemote`.

import UVRunLoop
import UVRunLoopPorts

/// Called on the main thread with each message; what it returns is the reply.
func handleMainThreadMessage(
    _ message: UVRunLoop.MessagePort.Message,
    _ activeThreads: ActiveThreads,
    _ log: Log
) -> [UInt8]? {
    guard message.id == PortMessageID.checkIn else {
        log.note("main: message \(message.id) means nothing to me")
        return nil
    }
    log.note("main: a worker has checked in")
    do {
        let name = String(decoding: message.data, as: UTF8.self)
        activeThreads.ports.append(try UVRunLoop.MessagePort.remote(named: name))
    } catch {
        log.note("main: the worker has no port: \(error)")
    }
    return nil
}

/// Three messages: one is not a check-in, one names an existing port, and one names none.
func receiveACheckIn(_ log: Log) throws {
    let activeThreads = ActiveThreads()
    let (mainName, workerName) = (PortNames.unique("main"), PortNames.unique("worker"))
    let main = try UVRunLoop.MessagePort.local(named: mainName) { _, message in
        handleMainThreadMessage(message, activeThreads, log)
    }
    UVRunLoop.current.add(main, forMode: .default)
    let worker = try UVRunLoop.MessagePort.local(named: workerName) { _, _ in nil }

    let remote = try UVRunLoop.MessagePort.remote(named: mainName)
    for (id, text) in [(7, ""), (PortMessageID.checkIn, workerName), (PortMessageID.checkIn, "?")] {
        // The loop runs while the sender waits for the reply, in which the handler is called.
        try remote.send(id: id, data: Array(text.utf8), replyMode: .default)
    }
    let isKnown = activeThreads.ports.map(\.name) == [workerName]
    log.note("main: the worker's port was kept: \(isKnown)")
    worker.invalidate()
    main.invalidate()
}
