import Injection
import UVRunLoop
import UVRunLoopPorts

extension Operation {
    static let messages = [
        Operation("message.reply", prepare: startThreadForReplies) { scene in
            let server = try UVRunLoop.Thread(name: "server")
            defer {
                server.stop(afterQueuedWork: false)
                server.join()
            }
            let local = try UVRunLoop.MessagePort.local(
                named: scene.name,
                sendableHandler: { _, message in message.data.reversed() }
            )
            defer { local.invalidate() }
            server.runLoop.add(local, forMode: .default)
            let remote = try UVRunLoop.MessagePort.remote(named: scene.name)
            defer { remote.invalidate() }
            let reply = try remote.send(
                id: 1,
                data: [1, 2, 3],
                sendLimit: scene.limit,
                receiveLimit: scene.limit,
                replyMode: .connectionReply
            )
            try scene.require(reply == [3, 2, 1], "a reply is \(reply as Any)")
        },
        Operation("message.one-way") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var ids: [Int32] = []
            let received = Counter()
            let local = try UVRunLoop.MessagePort.local { _, message in
                ids.append(message.id)
                received.add()
                if ids.count == 3 { loop.stop() }
                return nil
            }
            defer { local.invalidate() }
            loop.add(local, forMode: .default)
            let problem = Shared<(any Error & Sendable)?>(nil)
            let sender = PlainThread {
                do {
                    let remote = try UVRunLoop.MessagePort.remote(named: local.name)
                    defer { remote.invalidate() }
                    for id in 0..<3 {
                        try remote.send(id: Int32(id), data: [], sendLimit: scene.limit)
                    }
                    // A one-way message is not acknowledged: a connection that broke says so when
                    // it is asked.
                    try scene.askAgain(remote) { received.value == 3 }
                } catch {
                    problem.change { $0 = error }
                    loop.stop()
                }
            }
            scene.run(loop)
            sender.join()
            try scene.require(ids == Array(0..<Int32(ids.count)), "messages came out of order")
            if let error = problem.current { throw error }
            if !local.isValid { throw Reported(what: "the local port became invalid") }
            try scene.expect(ids.count == 3, "\(3 - ids.count) messages")
        },
    ]
}

extension Scene {
    /// Waits until all has come; fails, as a send does, where the connection is gone.
    fileprivate func askAgain(_ remote: UVRunLoop.MessagePort.Remote, _ hasCome: () -> Bool) throws
    {
        guard !awaits(hasCome) else { return }
        try remote.send(id: 3, data: [], sendLimit: limit)
    }
}

/// Gives a request up, whose late reply the library's thread for replies then waits for.
private func startThreadForReplies() {
    PlainThread {
        guard let local = try? UVRunLoop.MessagePort.local(sendableHandler: { _, _ in nil }),
            let remote = try? UVRunLoop.MessagePort.remote(named: local.name)
        else { return }
        _ = try? remote.send(data: [], receiveLimit: .zero, replyMode: .connectionReply)
        remote.invalidate()
        local.invalidate()
    }.join()
}
