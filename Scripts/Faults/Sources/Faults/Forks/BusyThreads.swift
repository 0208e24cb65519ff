import Glibc
import Injection
import Synchronization
import UVRunLoop
import UVRunLoopPorts

/// Threads that use the library without a pause, so that a fork finds its locks held.
final class BusyThreads: Sendable {
    private let gate: Gate
    private let threads: [PlainThread]
    private let shared: UVRunLoop.Thread
    /// The rounds that each kind of work made.
    let rounds: [Counter]

    init() throws {
        let shared = try UVRunLoop.Thread(name: "busy loop")
        let gate = Gate()
        let kinds = Self.kinds(shared.runLoop)
        let rounds = kinds.map { _ in Counter() }
        self.shared = shared
        self.gate = gate
        self.rounds = rounds
        threads = kinds.indices.map { index in
            PlainThread {
                var number = 0
                while gate.pass() {
                    kinds[index](number)
                    number += 1
                    rounds[index].add()
                }
            }
        }
    }

    /// Lets the threads work, or has them wait.
    func setWorking(_ isWorking: Bool) { gate.set(isWorking ? .open : .closed) }

    func end() {
        gate.set(.over)
        for thread in threads { thread.join() }
        shared.stop()
        shared.join()
    }

    /// The work of the threads, each of its own kind; the number tells rounds apart.
    private static func kinds(_ loop: UVRunLoop) -> [@Sendable (Int) -> Void] {
        [
            { number in makeModes(number) },
            { _ in dateTimerInNoLoop() },
            { number in useLoopFromOutside(loop, number) },
            { _ in makeLoop() },
            { _ in makeThread() },
            { _ in watchDescriptor(loop) },
            { _ in watchSignal(loop) },
            { _ in askForMainLoop() },
            { number in makePorts(number) },
        ]
    }
}

/// The gate at which the threads wait.
private final class Gate: Sendable {
    enum Position: UInt8 { case closed, open, over }

    private let position = Atomic<UInt8>(Position.closed.rawValue)

    func set(_ new: Position) { position.store(new.rawValue, ordering: .releasing) }

    /// Waits while the gate is closed; returns whether there is more to do.
    func pass() -> Bool {
        while true {
            switch position.load(ordering: .acquiring) {
            case Position.open.rawValue: return true
            case Position.over.rawValue: return false
            default: work_sleep(200)
            }
        }
    }
}

private func makeModes(_ number: Int) {
    let mode = UVRunLoop.Mode(rawValue: "busy \(number % 4_000)")
    precondition(mode.rawValue.hasPrefix("busy"))
}

private func dateTimerInNoLoop() {
    let timer = UVRunLoop.Timer(after: .seconds(1), interval: .seconds(1)) { _ in }
    for delay in 1...20 { timer.nextFireDate = .now + .seconds(delay) }
    timer.invalidate()
}

private func useLoopFromOutside(_ loop: UVRunLoop, _ number: Int) {
    let mode = UVRunLoop.Mode(rawValue: "outside \(number % 100)")
    let timer = UVRunLoop.Timer(after: .seconds(1), sendableHandler: { _ in })
    let source = UVRunLoop.Source(sendablePerform: { _ in })
    let observer = UVRunLoop.Observer(activities: .exit, sendableHandler: { _, _ in })
    let port = UVRunLoop.Port(sendableHandler: { _, _ in })
    loop.add(timer, forMode: mode)
    loop.add(source, forMode: .common)
    loop.add(observer, forMode: .default)
    loop.add(port, forMode: .default)
    source.signal()
    _ = port.send(UVRunLoop.PortMessage(id: 1), limit: .zero)
    loop.perform {}
    let request = loop.requestPerform(after: .milliseconds(1)) {}
    timer.nextFireDate = .now + .seconds(2)
    request.cancel()
    timer.invalidate()
    source.invalidate()
    observer.invalidate()
    port.invalidate()
}

private func makeLoop() {
    PlainThread {
        let loop = UVRunLoop.current
        loop.performLocally {}
        loop.run(for: .zero)
    }.join()
}

private func makeThread() {
    guard let thread = try? UVRunLoop.Thread(name: "short") else { return }
    _ = try? thread.runLoop.performAndWait { UVRunLoop.Thread.current?.name }
    thread.stop()
    thread.join()
}

private func watchDescriptor(_ loop: UVRunLoop) {
    guard let pipe = try? Ends(work_pipe) else { return }
    let source = try? UVRunLoop.DescriptorSource(
        pipe.first,
        events: .readable,
        sendableHandler: { source, _ in source.invalidate() }
    )
    if let source {
        loop.add(source, forMode: .default)
        _ = work_write(pipe.second, 1)
        work_sleep(50)
        source.invalidate()
    }
    pipe.close()
}

private func watchSignal(_ loop: UVRunLoop) {
    let source = try? UVRunLoop.SignalSource(SIGUSR2, sendableHandler: { _, _ in })
    guard let source else { return }
    loop.add(source, forMode: .default)
    work_raise(SIGUSR2)
    source.invalidate()
}

private func askForMainLoop() {
    let loop = UVRunLoop.main
    loop.perform(inModes: [UVRunLoop.Mode(rawValue: "main")]) {}
    loop.wakeUp()
}

private func makePorts(_ number: Int) {
    let local = try? UVRunLoop.MessagePort.local(sendableHandler: { _, _ in nil })
    let remote = try? local.map { try UVRunLoop.MessagePort.remote(named: $0.name) }
    remote?.invalidate()
    local?.invalidate()
    guard
        let server = try? UVRunLoop.SocketPort(
            listeningAt: .ipv4Loopback(port: 0),
            sendableHandler: { _, _ in }
        )
    else { return }
    if let place = server.localAddress {
        let client = try? UVRunLoop.SocketPort(connectingTo: place, sendableHandler: { _, _ in })
        client?.invalidate()
    }
    server.invalidate()
}
