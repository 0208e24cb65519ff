// Listing 3-14: the main routine of the worker, which checks in and then runs its loop until it is
// told to exit. `run(mode:for:returnAfterSourceHandled:)` stands for `runMode:beforeDate:`, and no
// limit for the distant future.

import UVRunLoop

/// The worker's side of the conversation, used on its thread only.
final class MyWorker {
    let log: Log
    /// The main thread's port.
    var remotePort: UVRunLoop.Port?
    private(set) var shouldExit = false

    init(log: Log) { self.log = log }

    /// The thread's main routine.
    static func launchThread(with distantPort: UVRunLoop.Port, log: Log) {
        let worker = MyWorker(log: log)
        worker.sendCheckInMessage(to: distantPort)
        repeat {
            UVRunLoop.current.run(mode: .default, for: nil, returnAfterSourceHandled: true)
        } while !worker.shouldExit
        log.note("worker: the thread ends")
    }

    /// Called on the worker's thread with each message.
    func handlePortMessage(_ message: UVRunLoop.PortMessage) {
        switch message.id {
        case PortMessageID.request:
            let sum = message.value(as: [Int].self)?.reduce(0, +) ?? 0
            log.note("worker: the sum is \(sum)")
            let answer = UVRunLoop.PortMessage(id: PortMessageID.answer, components: [.value(sum)])
            _ = remotePort?.send(answer)
        case PortMessageID.exit:
            shouldExit = true
        default:
            log.note("worker: message \(message.id) means nothing to me")
        }
    }
}

/// The main thread sends a worker a request, and then ends it.
func runAWorkerThread(_ log: Log) throws {
    let main = MainThread(log: log)
    let thread = try main.launchThread()
    runCurrentLoop { main.distantPort != nil }

    let numbers = UVRunLoop.PortMessage.Component.value([1, 2, 3])
    _ = main.distantPort?.send(
        UVRunLoop.PortMessage(id: PortMessageID.request, components: [numbers])
    )
    runCurrentLoop { main.answer != nil }
    main.end(thread)
}
