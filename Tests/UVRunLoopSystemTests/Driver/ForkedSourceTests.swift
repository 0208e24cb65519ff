import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts
import UVRunLoopSystem

private typealias FileWatch = UVRunLoop.FileWatch

/// Sources with libuv handles in the forked child of their process, and beside foreign handles.
@Suite(.timeLimit(.minutes(15))) struct ForkedSourceTests {
    @Test func aChildThatUsesAParentsSourceTraps() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let folder = TemporaryFolder()
                let watch = try FileWatch(folder.path) { watch, _ in watch.invalidate() }
                loop.add(watch, forMode: .default)
                precondition(trapsInChild { watch.invalidate() })
                precondition(trapsInChild { loop.add(watch, forMode: .modalPanel) })
                // The parent notices nothing.
                mkdir("\(folder.path)/new", 0o700)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
            }
        }
    }

    @Test func everyChangeOfAParentsSourceTrapsInTheChild() async {
        await #expect(processExitsWith: .success) { try withLoop { try changeInChildren($0) } }
    }

    /// The thread of the pool would go on in the child, and wake the parent's loop.
    @Test func workThatReturnsInAForkedChildTraps() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let status = SharedBox<CInt>(0)
                let work = try UVRunLoop.Offload {
                    _ = isInForkedChild { status.value = $0 }
                } handler: { _, _ in
                }
                loop.add(work, forMode: .default)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                precondition(isTrap(status.value), "\(status.value)")
            }
        }
    }

    /// After the work, nothing of the parent's is released in the child.
    @Test func workOrTheReleaseOfItsCapturesTrapsInTheChild() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                try forkInWork(loop) { $0.callHandler() }
                try forkInWork(loop) { _ in }
            }
        }
    }

    /// Each failure that is delivered makes room for a datagram that waits.
    @Test func aHandlerThatReturnsInTheChildSendsNothingThere() async {
        await #expect(processExitsWith: .success) { try withLoop { try sendAfterAFork($0) } }
    }

    @Test func aChildReleasesAParentsSourcesWithoutEffect() async {
        await #expect(processExitsWith: .success) { try withLoop { try releaseInChild($0) } }
    }

    @Test func aLoopThatEndsReleasesNothingMoreInTheChild() async {
        await #expect(processExitsWith: .success) {
            try withLoop { try endALoopWhoseWorkForks($0) }
        }
    }

    @Test func aWriteTrapsInTheChildThoughOneWaits() async {
        await #expect(processExitsWith: .success) {
            try withLoop { _ in
                let child = try UVRunLoop.ChildProcess(.init("cat", input: .pipe)) { _, _ in }
                startThread { try? child.write([1]) }.join()
                precondition(trapsInChild { try? child.write([2]) })
                precondition(child.queuedBytes == 1)
                child.invalidate()
            }
        }
    }

    @Test func aSourceForAFileOfTheParentTrapsInTheChild() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            folder.write("text", to: "file")
            dup2(open("\(folder.path)/file", O_RDONLY | O_CLOEXEC), 0)
            let source = try UVRunLoop.DescriptorSource(
                0,
                events: .readable,
                sendableHandler: { _, _ in }
            )
            precondition(trapsInChild { UVRunLoop.current.add(source, forMode: .default) })
            // Releasing it does nothing.
            let status = inChild {
                source.invalidate()
                return 0
            }
            precondition(status == 0)
        }
    }

    @Test func aChildHasSourcesOfItsOwn() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let port = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { port, _ in
                    port.invalidate()
                }
                loop.add(port, forMode: .default)
                precondition(inChild { sendToItself() } == 0)
                try port.send([1], to: port.localAddress)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
            }
        }
    }

    @Test func sourcesWorkInALoopThatWasLent() throws {
        try withLoop { loop in
            loop.withUVLoop { _ in }
            let log = EventLog()
            let offload = try UVRunLoop.Offload {
                1
            } handler: { _, _ in
                log.note("result")
            }
            loop.add(offload, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["result"])
        }
    }
}

/// Sources of each kind that a child could change without a loop, and what they have told.
private final class Sources {
    let timer: UVRunLoop.WallTimer
    let port: UVRunLoop.DatagramPort
    let child: UVRunLoop.ChildProcess
    let log: EventLog

    init() throws {
        let log = EventLog()
        self.log = log
        timer = try UVRunLoop.WallTimer(at: .now + .milliseconds(300)) { _, event in
            log.note("\(event)")
        }
        port = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { port, event in
            if case .received(let datagrams) = event { log.note("\(datagrams.map(\.bytes))") }
            port.invalidate()
        }
        child = try UVRunLoop.ChildProcess(.init("/bin/cat", input: .pipe)) {
            switch $1 {
            case .output(let bytes): log.note("output \(bytes)")
            case .exited(let status): log.note("\(status)")
            default: break
            }
        }
    }

    func add(to loop: UVRunLoop) {
        loop.add(timer, forMode: .default)
        loop.add(port, forMode: .default)
        loop.add(child, forMode: .default)
    }

    /// Uses all of them in their own process.
    func expectService(by loop: UVRunLoop) throws {
        try port.send([7], to: port.localAddress)
        try child.write([8])
        child.endInput()
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        let told = Set(log.entries)
        precondition(
            told == ["reached", "[[7]]", "output [8]", "exited(code: 0)"],
            "\(log.entries)"
        )
    }
}

private func changeInChildren(_ loop: UVRunLoop) throws {
    let sources = try Sources()
    let uses: [(String, () -> Void)] = [
        ("date", { sources.timer.date = .now + .seconds(3_600) }),
        ("send", { try? sources.port.send([1], to: sources.port.localAddress) }),
        ("write", { try? sources.child.write([1]) }),
        ("endInput", { sources.child.endInput() }),
        ("signal", { try? sources.child.send(signal: SIGKILL) }),
        ("add", { UVRunLoop.current.add(sources.timer, forMode: .default) }),
    ]
    func expectTraps() {
        for (name, change) in uses {
            precondition(trapsInChild(change), "\(name) did not trap.")
        }
    }
    expectTraps()
    sources.add(to: loop)
    expectTraps()
    try sources.expectService(by: loop)
}

private func releaseInChild(_ loop: UVRunLoop) throws {
    var sources: Sources? = try Sources()
    let status = inChild {
        sources = nil
        return 0
    }
    precondition(status == 0)
    sources?.add(to: loop)
    try sources?.expectService(by: loop)
}

/// Does work whose captures fork when they are released, unless the work has done so.
private func forkInWork(
    _ loop: UVRunLoop,
    _ work: @escaping @Sendable (FirstFork) -> Void
) throws {
    let (fork, isAdded) = (FirstFork(), Signal())
    do {
        let farewell = Farewell { fork.callHandler() }
        let offload = try UVRunLoop.Offload {
            isAdded.wait()
            work(fork)
            withExtendedLifetime(farewell) {}
        } handler: { _, _ in
        }
        loop.add(offload, forMode: .default)
    }
    isAdded.send()
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
    precondition(fork.hasTrapped)
}

/// Ends a loop with work that has not begun, whose captures fork when they are released.
private func endALoopWhoseWorkForks(_ loop: UVRunLoop) throws {
    let (fork, gate) = (FirstFork(), Signal())
    let offloads = SharedBox<[UVRunLoop.Offload<Void>]>([])
    try occupyPool(of: loop, until: gate)
    onAnotherThread {
        for _ in 0..<2 {
            let farewell = Farewell { fork.callHandler() }
            let offload = try? UVRunLoop.Offload {
                withExtendedLifetime(farewell) {}
            } handler: { _, _ in
            }
            guard let offload else { preconditionFailure("Work can be queued.") }
            offloads.value.append(offload)
        }
    }
    gate.send()
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
    precondition(fork.hasTrapped)
}

private func sendAfterAFork(_ loop: UVRunLoop) throws {
    let (log, fork) = (EventLog(), FirstFork())
    let receiver = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
        guard case .received(let batch) = event else { return }
        for datagram in batch { log.note("\(datagram.bytes)") }
    }
    // Port 0 fails.
    let nowhere = UVRunLoop.SocketAddress.ipv4Loopback(port: 0)
    let sender = try UVRunLoop.DatagramPort(boundTo: nowhere) { _, _ in fork.callHandler() }
    loop.add(receiver, forMode: .default)
    loop.add(sender, forMode: .default)
    for _ in 0..<UVRunLoop.DatagramPort.capacity { try sender.send([0], to: nowhere) }
    for number in 1...2 as ClosedRange<UInt8> {
        try sender.send([number], to: receiver.localAddress)
    }
    loop.run(until: log, has: 2)
    precondition(fork.hasTrapped)
    precondition(log.entries == ["[1]", "[2]"], "\(log.entries)")
}

/// Exchanges a datagram on the loop of a forked child.
private func sendToItself() -> CInt {
    let port = try? UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { port, _ in
        port.invalidate()
    }
    guard let port, (try? port.send([1], to: port.localAddress)) != nil else { return 1 }
    UVRunLoop.current.add(port, forMode: .default)
    return UVRunLoop.current.run(mode: .default, for: .seconds(60)) == .finished ? 0 : 2
}
