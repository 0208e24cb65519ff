import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts
import UVRunLoopSystem

/// Datagrams for which the kernel has no room.
///
/// On the loopback interface that never happens by itself.
@Suite(.timeLimit(.minutes(15))) struct WaitingDatagramTests {
    @Test func datagramsWaitForRoomAndArriveInOrder() async {
        await #expect(processExitsWith: .success) {
            try whileThereIsNoRoom { loop, sender, log, error in
                precondition(sender.queuedBytes == 3)
                precondition(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
                precondition(sender.queuedBytes == 3 && log.entries == [], "\(log.entries)")
                error.value = 0
                loop.run(until: log, has: 3)
                precondition(log.entries == ["[1]", "[2]", "[3]"], "\(log.entries)")
                precondition(sender.queuedBytes == 0)
            }
        }
    }

    @Test func datagramsOfAConnectedPortWaitForRoomAndArriveInOrder() async {
        await #expect(processExitsWith: .success) {
            try whileThereIsNoRoom(isConnected: true) { loop, sender, log, error in
                precondition(sender.queuedBytes == 3)
                error.value = 0
                loop.run(until: log, has: 3)
                precondition(log.entries == ["[1]", "[2]", "[3]"], "\(log.entries)")
                precondition(sender.queuedBytes == 0)
            }
        }
    }

    @Test func aDatagramThatFailsAfterItsWaitIsTold() async {
        await #expect(processExitsWith: .success) {
            try whileThereIsNoRoom { loop, sender, log, error in
                loop.run(mode: .default, for: .milliseconds(5))
                error.value = ENETUNREACH
                loop.run(until: log, has: 3)
                let failure = "the address cannot be reached"
                precondition(log.entries == [failure, failure, failure], "\(log.entries)")
                precondition(sender.queuedBytes == 0 && sender.isValid)
            }
        }
    }

    /// Also while the queue never becomes empty.
    @Test func aDatagramThatHasLeftTheQueueKeepsNoMemory() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let count = Box(0)
                // Port 0 fails.
                let nowhere = UVRunLoop.SocketAddress.ipv4Loopback(port: 0)
                let port = try UVRunLoop.DatagramPort(boundTo: nowhere) { port, event in
                    guard case .sendFailed = event else { return }
                    count.value += 1
                    // One comes for each that leaves.
                    if count.value > 3_000 {
                        try? port.send([UInt8](repeating: 1, count: 60_000), to: nowhere)
                    }
                    if count.value == 3_500 { loop.stop() }
                }
                loop.add(port, forMode: .default)
                let before = residentByteCount()
                for _ in 0..<3_060 { try port.send([1], to: nowhere) }
                precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
                let kept = residentByteCount() - before
                precondition(kept < 15_000_000, "\(kept) bytes are kept.")
            }
        }
    }

    @Test func datagramsThatWaitGoWithTheirPort() async {
        await #expect(processExitsWith: .success) {
            try whileThereIsNoRoom { loop, sender, log, error in
                loop.run(mode: .default, for: .milliseconds(5))
                sender.invalidate()
                precondition(sender.queuedBytes == 0)
                error.value = 0
                loop.run(mode: .default, for: .milliseconds(5))
                precondition(log.entries == [], "\(log.entries)")
            }
        }
    }

    @Test func aPortWithDatagramsThatWaitMayEndWithItsThread() async {
        await #expect(processExitsWith: .success) {
            let port = SharedBox<UVRunLoop.DatagramPort?>(nil)
            try whileThereIsNoRoom { loop, sender, _, _ in
                loop.run(mode: .default, for: .milliseconds(5))
                port.value = sender
            }
            precondition(port.value?.isValid == false && port.value?.queuedBytes == 0)
        }
    }
}

/// Has a port of a new thread's loop send three datagrams to another port, for which there is no
/// room until the error of system calls that send is another one.
///
/// What arrives, and what fails to be sent, is noted.
private func whileThereIsNoRoom(
    isConnected: Bool = false,
    _ body:
        @escaping @Sendable (
            UVRunLoop, UVRunLoop.DatagramPort, EventLog, SharedBox<CInt>
        ) throws -> Void
) throws {
    try onAnotherThread {
        let (loop, log, error) = (UVRunLoop.current, EventLog(), SharedBox(EAGAIN))
        let receiver = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
            guard case .received(let batch) = event else { return log.note("\(event)") }
            for datagram in batch { log.note("\(datagram.bytes)") }
        }
        let address = receiver.localAddress
        let sender = try UVRunLoop.DatagramPort(
            boundTo: .ipv4Loopback(port: 0),
            connectedTo: isConnected ? address : nil
        ) { _, event in
            guard case .sendFailed(let failure, let target) = event else {
                return log.note("\(event)")
            }
            precondition(target == address)
            log.note("\(failure.code)")
        }
        for port in [receiver, sender] { loop.add(port, forMode: .default) }
        intercept([.sendmsg, .sendmmsg, .sendto]) { error.value }
        for byte in 1...3 as ClosedRange<UInt8> {
            try sender.send([byte], to: isConnected ? nil : address)
        }
        try body(loop, sender, log, error)
    }
}
