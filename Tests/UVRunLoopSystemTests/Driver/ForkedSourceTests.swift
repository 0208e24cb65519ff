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
                precondition(inChild { use { watch.invalidate() } } < 0)
                precondition(inChild { use { loop.add(watch, forMode: .modalPanel) } } < 0)
                // The parent notices nothing.
                mkdir("\(folder.path)/new", 0o700)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
            }
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

private func use(_ body: () -> Void) -> CInt {
    // What it says of the trap would be in the parent's output.
    close(STDERR_FILENO)
    body()
    return 0
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
