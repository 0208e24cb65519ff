import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts

@testable import UVRunLoopSystem

/// The options of datagram ports, what they refuse, and the end of their events.
@Suite(.timeLimit(.minutes(15))) struct DatagramOptionTests {
    private typealias DatagramPort = UVRunLoop.DatagramPort
    private typealias Address = UVRunLoop.SocketAddress

    @Test func onlyAPortThatAllowsItBroadcasts() throws {
        try withLoop { loop in
            let log = EventLog()
            let receiver = try DatagramPort(boundTo: .ipv4Wildcard(port: 0)) { _, event in
                guard case .received(let batch) = event else { return }
                for datagram in batch { log.note("\(datagram.bytes)") }
            }
            let number = try #require(receiver.localAddress?.port)
            // That of the loopback interface.
            let everybody = try Address(host: "127.255.255.255", port: number)
            let plain = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                guard case .sendFailed(let error, let address) = event else { return }
                #expect(error.code == .notPermitted && address == everybody)
                log.note("refused")
            }
            let broadcaster = try DatagramPort(
                boundTo: .ipv4Loopback(port: 0),
                options: .allowsBroadcast
            ) { _, event in log.note("\(event)") }
            for port in [receiver, plain, broadcaster] { loop.add(port, forMode: .default) }
            for (byte, port) in [(1, plain), (2, broadcaster)] as [(UInt8, DatagramPort)] {
                try port.send([byte], to: everybody)
            }
            while log.count < 2 {
                loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(Set(log.entries) == ["refused", "[2]"])
        }
    }

    /// As with listeners.
    @Test func theOptionForIPv6DoesNotMatterForIPv4() throws {
        try withLoop { _ in
            let port = try DatagramPort(
                boundTo: .ipv4Loopback(port: 0),
                options: .isIPv6Only
            ) { _, _ in }
            #expect(port.isValid)
            port.invalidate()
        }
    }

    @Test func aGroupOrAnInterfaceWithAZeroByteIsRefused() throws {
        try withLoop { _ in
            let port = try DatagramPort(boundTo: .ipv4Wildcard(port: 0)) { _, _ in }
            let refused = UVRunLoop.SystemError(.configure, .invalidArgument)
            #expect(throws: refused) { try port.join(group: "239.1.2.3\0") }
            #expect(throws: refused) {
                try port.join(group: "239.1.2.3", interface: "127.0.0.1\0.5")
            }
            #expect(throws: refused) { try port.leave(group: "239.1.2.3\0") }
            port.invalidate()
        }
    }

    @Test func theEndOfTheEventsIsThatOfThePort() async throws {
        try await UVRunLoop.withThread { loop in
            let port = try await loop.datagramPort(boundTo: .ipv4Loopback(port: 0))
            let events = port.events
            events.invalidate()
            #expect(!port.isValid)
            for await event in events { Issue.record("\(event)") }
        }
    }
}
