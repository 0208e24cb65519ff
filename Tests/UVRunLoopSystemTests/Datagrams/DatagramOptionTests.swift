import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts

@testable import UVRunLoopSystem

/// The options and groups of datagram ports, what they refuse, and the end of their events.
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

    @Test func groupsThatAreNoneThrow() throws {
        try withLoop { _ in
            let port = try DatagramPort(boundTo: .ipv4Wildcard(port: 0)) { _, _ in }
            #expect(throws: UVRunLoop.SystemError.self) { try port.join(group: "127.0.0.1") }
            #expect(throws: UVRunLoop.SystemError.self) { try port.join(group: "no address") }
            try port.join(group: "239.1.2.3", interface: "127.0.0.1")
            try port.leave(group: "239.1.2.3", interface: "127.0.0.1")
        }
    }

    @Test func anIPv6GroupIsJoinedOnTheInterfaceThatHasTheAddress() throws {
        // The machine may have no IPv6.
        try withLoop { _ in
            let address = UVRunLoop.SocketAddress.ipv6Loopback(port: 0)
            guard let port = try? DatagramPort(boundTo: address, handler: { _, _ in }) else {
                return
            }
            let group = "ff02::4249"
            try port.join(group: group, interface: "::1")
            #expect(throws: UVRunLoop.SystemError.self) {
                try port.join(group: "\(group)%lo")
            }
            try port.leave(group: group, interface: "::%lo")
            try port.join(group: "\(group)%lo")
            try port.leave(group: group, interface: "::1%1")
            for unknown in ["2001:db8::1", "::%nope", "::1%999999", "127.0.0.1"] {
                #expect(throws: UVRunLoop.SystemError.self, "\(unknown)") {
                    try port.join(group: group, interface: unknown)
                }
            }
            #expect(throws: UVRunLoop.SystemError.self) {
                try port.join(group: "\(group)%lo", interface: "::1%999999")
            }
            #expect(throws: UVRunLoop.SystemError.self) { try port.join(group: "\(group)%nope") }
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
