import Glibc
import Testing

@testable import UVRunLoopPorts

/// Message ports in a process where `poll` fails, because it may open no descriptors.
@Suite(.timeLimit(.minutes(15))) struct FailingPollPortTests {
    @Test func aSenderWaitsForRoomWithoutSpinning() async {
        await #expect(processExitsWith: .success) { try sendWithoutPoll() }
    }
}

private func sendWithoutPoll() throws {
    let (_, peer, remote) = try Place().connected()
    setDescriptorLimit(0)
    let number = peer.socket.descriptor.number
    startThread {
        // The sender waits meanwhile.
        usleep(200_000)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            if read(number, &bytes, bytes.count) < 0 { usleep(1_000) }
        }
    }.detach()
    let start = threadProcessorTime()
    try remote.sendOneWay([UInt8](repeating: 7, count: 1 << 20))
    let processorTime = threadProcessorTime() - start
    precondition(processorTime < 100_000_000, "It took \(processorTime) ns.")
    withExtendedLifetime(peer) {}
}
