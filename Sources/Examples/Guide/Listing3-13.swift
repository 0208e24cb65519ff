// Listing 3-13: what the main thread does with messages. A check-in brings the port of a worker,
// which is kept for later. `UVRunLoop.PortMessage` stands for `NSPortMessage`, and its `replyPort`
// for `sendPort`.

import UVRunLoop

/// The ids of the messages of listings 3-12 to 3-19.
enum PortMessageID {
    static let checkIn: Int32 = 100
    static let request: Int32 = 101
    static let answer: Int32 = 102
    static let exit: Int32 = 103
}

extension MainThread {
    /// Called on the main thread with each message.
    func handlePortMessage(_ message: UVRunLoop.PortMessage) {
        switch message.id {
        case PortMessageID.checkIn:
            log.note("main: a worker has checked in")
            distantPort = message.replyPort
        case PortMessageID.answer:
            answer = message.value()
            log.note("main: the answer is \(answer ?? 0)")
        default:
            log.note("main: message \(message.id) means nothing to me")
        }
    }
}

/// A check-in and another message arrive from another thread, in the order in which they were sent.
func handlePortMessages(_ log: Log) throws {
    let main = MainThread(log: log)
    let local = UVRunLoop.Port { _, message in main.handlePortMessage(message) }
    UVRunLoop.current.add(local, forMode: .default)

    let workerPort = UVRunLoop.Port(sendableHandler: { _, _ in })
    let worker = try startThread("worker") {
        log.note("worker: I check in, and send something else")
        _ = local.send(UVRunLoop.PortMessage(id: PortMessageID.checkIn, replyPort: workerPort))
        _ = local.send(UVRunLoop.PortMessage(id: 7))
    }
    worker.join()
    log.note("main: nothing arrives while the loop does not run")

    runCurrentLoop { local.count == 0 }
    log.note("main: the worker's port was kept: \(main.distantPort === workerPort)")
}
