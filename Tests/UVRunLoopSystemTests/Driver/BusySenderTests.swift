import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts
import UVRunLoopSystem

/// Threads that give sources more and more to do.
@Suite(.timeLimit(.minutes(15))) struct BusySenderTests {
    @Test func aThreadThatSendsWithoutAPauseDoesNotHoldUpTheLoop() throws {
        try withLoop { loop in
            let port = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            let target = port.localAddress
            loop.add(port, forMode: .default)
            expectRunsToEnd(loop) { try? port.send([1], to: target) }
            port.invalidate()
        }
    }

    @Test func aDatagramOfTheLoopsThreadIsSentAtOnceThoughOthersWait() throws {
        try withLoop { _ in
            let port = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            let target = port.localAddress
            startThread { try? port.send([1], to: target) }.join()
            #expect(port.queuedBytes == 1)
            try port.send([2], to: target)
            #expect(port.queuedBytes == 0)
            startThread { try? port.send([3], to: target) }.join()
            port.invalidate()
            #expect(port.queuedBytes == 0)
        }
    }

    /// The end of an event makes room for another one, and no more.
    @Test func anEventDoesNotDoAllThatOtherThreadsWaitFor() throws {
        try withLoop { loop in
            let left = Box<[Int]>([])
            let port = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { port, _ in
                left.value.append(port.queuedBytes)
                if left.value.count == 3 { loop.stop() }
            }
            let target = port.localAddress
            loop.add(port, forMode: .default)
            startThread { for _ in 0..<5_000 { try? port.send([1], to: target) } }.join()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(left.value.count == 3 && left.value.min() ?? 0 > 1_000, "\(left.value)")
            port.invalidate()
        }
    }

    /// However many they are, they are served a few at a time, in turn.
    @Test func manyPortsWithMuchToSendDoNotHoldUpTheLoop() throws {
        try withLoop { loop in
            let ports = try (0..<40).map { _ in
                try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, _ in }
            }
            for port in ports { loop.add(port, forMode: .default) }
            startThread {
                for port in ports {
                    for _ in 0..<50 { try? port.send([1], to: port.localAddress) }
                }
            }.join()
            // Not one pass has done everything, and no port had to wait for all of another's.
            loop.run(mode: .default, for: .zero)
            let left = ports.map(\.queuedBytes)
            #expect(left.reduce(0, +) > 1_000, "\(left)")
            #expect((left.max() ?? 0) - (left.min() ?? 0) <= 1, "\(left)")
            let timer = UVRunLoop.Timer(after: .zero, interval: .zero) { timer in
                if ports.allSatisfy({ $0.queuedBytes == 0 }) { loop.stop() }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            timer.invalidate()
            ports.forEach { $0.invalidate() }
        }
    }

    @Test func aThreadThatWritesWithoutAPauseDoesNotHoldUpTheLoop() throws {
        try withLoop { loop in
            let child = try UVRunLoop.ChildProcess(
                .init("cat", input: .pipe, output: .null),
                handler: { _, _ in }
            )
            loop.add(child, forMode: .default)
            expectRunsToEnd(loop) { try? child.write([1, 2, 3]) }
            try child.send(signal: SIGKILL)
            loop.run(mode: .default, for: .seconds(60))
        }
    }
}

/// Runs a loop with limits and a timer while another thread does something all the time.
private func expectRunsToEnd(_ loop: UVRunLoop, _ work: @escaping @Sendable () -> Void) {
    let isOver = SharedBox(false)
    let hasGivenUp = SharedBox(false)
    let end = UVRunLoop.Instant.now + .seconds(60)
    let worker = startThread {
        while !isOver.value, !hasGivenUp.value {
            for _ in 0..<1_000 { work() }
            hasGivenUp.value = .now > end
        }
    }
    var fires = 0
    let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { _ in fires += 1 }
    loop.add(timer, forMode: .default)
    for _ in 0..<20 { loop.run(mode: .default, for: .milliseconds(5)) }
    isOver.value = true
    worker.join()
    #expect(fires > 1 && !hasGivenUp.value)
    timer.invalidate()
}
