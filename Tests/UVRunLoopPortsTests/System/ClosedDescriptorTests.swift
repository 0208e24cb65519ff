import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Ports of a process that was started without descriptors 0, 1 and 2: what it prints must not get
/// into a connection.
@Suite(.timeLimit(.minutes(15))) struct ClosedDescriptorTests {
    @Test func noSocketHasTheNumberOfAClosedStandardDescriptor() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                closeStandardDescriptors()
                try connectTwoPorts()
            }
        }
    }

    @Test func noMessagePortHasTheNumberOfAClosedStandardDescriptor() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let place = Place()
                closeStandardDescriptors()
                try sendAMessage(in: place)
            }
        }
    }
}

/// Both ends of a connection, and its listener, at once.
private func connectTwoPorts() throws {
    let loop = UVRunLoop.current
    let accepted = Box<SocketPort?>(nil)
    let isConnected = Box(false)
    let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, event in
        guard case .accepted(let port) = event else { return }
        port.setSendableHandler { _, _ in }
        accepted.value = port
    }
    loop.add(listener, forMode: .default)
    guard let address = listener.localAddress else { preconditionFailure("No address.") }
    let port = try SocketPort(connectingTo: address) { _, event in
        if case .connected = event { isConnected.value = true }
    }
    loop.add(port, forMode: .default)
    loop.run(untilTrue: { accepted.value != nil && isConnected.value })
    expectClosedStandardDescriptors()
    for port in [listener, port, accepted.value] { port?.invalidate() }
}

private func sendAMessage(in place: Place) throws {
    let loop = UVRunLoop.current
    let isReceived = SharedBox(false)
    let local = try place.local("greetings") { _, _ in
        isReceived.value = true
        return nil
    }
    loop.add(local, forMode: .default)
    let remote = try place.remote(local.name)
    try remote.sendOneWay([1])
    loop.run(untilTrue: { isReceived.value })
    expectClosedStandardDescriptors()
    remote.invalidate()
    local.invalidate()
}
