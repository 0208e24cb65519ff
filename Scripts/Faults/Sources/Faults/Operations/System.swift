import Glibc
import Injection
import UVRunLoop
import UVRunLoopPorts
import UVRunLoopSystem

extension Operation {
    static let system = [
        Operation("system.child") { scene in try echo(scene) },
        Operation("system.datagrams") { scene in try exchangeDatagrams(scene) },
        Operation("system.files") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var changes: [UVRunLoop.FileWatch.Change] = []
            let folder = String(cString: work_directory())
            let watch = try UVRunLoop.FileWatch(folder) { _, change in
                guard change.name == scene.name || change.kinds.contains(.overflowed) else {
                    return
                }
                changes.append(change)
                loop.stop()
            }
            defer { watch.invalidate() }
            loop.add(watch, forMode: .default)
            try scene.require(work_make_file(folder + "/" + scene.name), "no file can be made")
            scene.run(loop)
            if !watch.isValid { throw Reported(what: "the watch became invalid") }
            try scene.expect(!changes.isEmpty, "the change of a directory")
        },
        Operation("system.missing") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var refusal: UVRunLoop.SystemError?
            do throws(UVRunLoop.SystemError) {
                try UVRunLoop.FileWatch("/no such file") { _, _ in }.invalidate()
            } catch {
                refusal = error
            }
            if let refusal, refusal.code != .noSuchFile { throw refusal }
            try scene.require(refusal != nil, "a file that does not exist is watched")
            // What libuv has opened for it is part of the loop's next polls.
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in loop.stop() }
            loop.add(timer)
            scene.run(loop)
            try scene.expect(!timer.isValid, "a timer beside a watch that was refused")
        },
        Operation("system.offload") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var value: Int?
            let offload = try UVRunLoop.Offload {
                42
            } handler: { _, result in
                value = try? result.get()
                loop.stop()
            }
            defer { offload.invalidate() }
            loop.add(offload, forMode: .default)
            scene.run(loop)
            try scene.expect(value == 42, "the result of offloaded work")
        },
        Operation("system.resolve") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var outcome: UVRunLoop.Resolver.Outcome?
            let resolver = try UVRunLoop.Resolver(host: "127.0.0.1", service: "80") { _, result in
                outcome = result
                loop.stop()
            }
            defer { resolver.invalidate() }
            loop.add(resolver, forMode: .default)
            scene.run(loop)
            guard let outcome else { throw Missing(what: "the result of a lookup") }
            let addresses = try outcome.get()
            try scene.require(addresses == [.ipv4Loopback(port: 80)], "the addresses: \(addresses)")
        },
        Operation("system.wall") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var events: [UVRunLoop.WallTimer.Event] = []
            let date = UVRunLoop.WallDate.now + .milliseconds(1)
            let timer = try UVRunLoop.WallTimer(at: date) { timer, event in
                events.append(event)
                loop.stop()
            }
            defer { timer.invalidate() }
            loop.add(timer, forMode: .default)
            scene.run(loop)
            if events.isEmpty, !timer.isValid { throw Reported(what: "the timer became invalid") }
            try scene.expect(events.contains(.reached), "the date of a wall timer: \(events)")
            try scene.require(UVRunLoop.WallDate.now >= date, "a wall timer is early")
        },
        Operation("system.input") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let pipe = try Ends(work_pipe)
            defer { pipe.close() }
            var bytes: [UInt8] = []
            var hasEnded = false
            var failure: UVRunLoop.SystemError?
            let input = try UVRunLoop.StandardInput(descriptor: pipe.first) { _, event in
                switch event {
                case .bytes(let more):
                    bytes += more
                    pipe.closeSecond()
                case .ended:
                    hasEnded = true
                    loop.stop()
                case .failed(let error):
                    failure = error
                    loop.stop()
                }
            }
            defer { input.invalidate() }
            loop.add(input, forMode: .default)
            try scene.require(work_write(pipe.second, 7), "a pipe takes nothing")
            scene.run(loop)
            if let failure { throw Reported(what: "\(failure)") }
            if !hasEnded, !input.isValid { throw Reported(what: "the input became invalid") }
            try scene.expect(bytes == [7], "the input: \(bytes)")
            try scene.expect(hasEnded, "the end of the input")
        },
    ]
}

/// A child that sends back what it gets, and exits.
private func echo(_ scene: Scene) throws {
    let loop = try UVRunLoop.prepareCurrent()
    let greeting: [UInt8] = Array("hello".utf8)
    var output: [UInt8] = []
    var status: UVRunLoop.ChildSource.ExitStatus?
    var failures: [String] = []
    let child = try UVRunLoop.ChildProcess(.init("/bin/cat", input: .pipe)) { _, event in
        switch event {
        case .output(let bytes): output += bytes
        case .inputFailed(let error): failures.append("\(error)")
        case .exited(let end):
            status = end
            loop.stop()
        default: break
        }
    }
    defer {
        child.invalidate()
        if status == nil || status == .unknown { work_end(child.process) }
    }
    loop.add(child, forMode: .default)
    try child.write(greeting)
    child.endInput()
    scene.run(loop)
    try scene.require(greeting.starts(with: output), "what came back is not what was sent")
    if let failure = failures.first { throw Reported(what: failure) }
    if status == nil, !child.isValid { throw Reported(what: "the child became invalid") }
    if status == .unknown { throw Reported(what: "the status is unknown") }
    try scene.expect(status != nil, "the end of a child")
    try scene.expect(status == .exited(code: 0), "a child's status is \(status as Any)")
    try scene.expect(output == greeting, "what the child sends back: \(output.count) bytes of 5")
}

/// Two ports that send each other a datagram.
private func exchangeDatagrams(_ scene: Scene) throws {
    let loop = try UVRunLoop.prepareCurrent()
    let greeting: [UInt8] = Array("hello".utf8)
    var received: [UInt8] = []
    var failures: [String] = []
    func note(_ event: UVRunLoop.DatagramPort.Event) -> [UVRunLoop.DatagramPort.Datagram] {
        switch event {
        case .received(let datagrams): return datagrams
        case .failed(let error), .sendFailed(let error, _):
            failures.append("\(error)")
            loop.stop()
        }
        return []
    }
    let server = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { port, event in
        for datagram in note(event) { try? port.send(datagram.bytes, to: datagram.sender) }
    }
    defer { server.invalidate() }
    guard let place = server.localAddress else { throw Reported(what: "no local address") }
    let client = try UVRunLoop.DatagramPort(
        boundTo: .ipv4Loopback(port: 0),
        connectedTo: place
    ) { _, event in
        for datagram in note(event) {
            received += datagram.bytes
            loop.stop()
        }
    }
    defer { client.invalidate() }
    loop.add(server, forMode: .default)
    loop.add(client, forMode: .default)
    try client.send(greeting)
    scene.run(loop)
    try scene.require(greeting.starts(with: received), "what came back is not what was sent")
    if let first = failures.first { throw Reported(what: first) }
    if !server.isValid || !client.isValid { throw Reported(what: "a port became invalid") }
    try scene.expect(received == greeting, "what was sent back: \(received.count) bytes of 5")
}
