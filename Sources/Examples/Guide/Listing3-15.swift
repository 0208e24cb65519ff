// Listing 3-15: the worker's check-in. It makes a port of its own and sends it to the main thread
// along with a message that has no other contents. `PortMessage(id:replyPort:)` stands for
// `initWithSendPort:receivePort:components:`, and `send(_:limit:)` for `sendBeforeDate:`.

import UVRunLoop

extension MyWorker {
    func sendCheckInMessage(to outPort: UVRunLoop.Port) {
        remotePort = outPort

        let myPort = UVRunLoop.Port { _, message in self.handlePortMessage(message) }
        UVRunLoop.current.add(myPort, forMode: .default)

        log.note("worker: I check in")
        let message = UVRunLoop.PortMessage(id: PortMessageID.checkIn, replyPort: myPort)
        // Apple's date is now: the message is sent at once or not at all.
        if !outPort.send(message, limit: .zero) { log.note("worker: the message did not go") }
    }
}

/// A worker checks in, and a message comes back through the port that it sent.
func checkIn(_ log: Log) {
    let worker = MyWorker(log: log)
    let outPort = UVRunLoop.Port { _, message in
        log.note("message \(message.id) with \(message.components.count) components")
        _ = message.replyPort?.send(UVRunLoop.PortMessage(id: PortMessageID.exit))
    }
    UVRunLoop.current.add(outPort, forMode: .default)

    worker.sendCheckInMessage(to: outPort)
    runCurrentLoop { worker.shouldExit }
    log.note("worker: I was told to exit")
}
