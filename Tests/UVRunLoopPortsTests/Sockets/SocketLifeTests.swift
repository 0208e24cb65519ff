import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Every action in every state of a connection, over TCP and Unix-domain sockets.
///
/// It checks each cell of the table in the article about ports.
@Suite(.timeLimit(.minutes(15))) struct SocketLifeTests {
    private typealias State = ConnectionStory.State
    private typealias Action = ConnectionStory.Action
    private typealias Story = ConnectionStory

    /// In all but one, "hello" was sent at once, and the peer has not read it.
    private static let tcp: [State: [Action: Story]] = [
        .connectingWithNothingQueued: [
            .send: Story("C", isValid: true, peer: "! end"),
            .endSending: Story("CE", peer: " end"),
            .invalidate: Story("", peer: " end"),
            .invalidateWhenDrained: Story("C", peer: " end"),
            .reset: Story("CR"),
            .threadEnd: Story("", peer: " end"),
        ],
        .connecting: [
            .send: Story("C", isValid: true, peer: "hello! end"),
            .endSending: Story("CE", peer: "hello end"),
            .invalidate: Story("", peer: " reset"),
            .invalidateWhenDrained: Story("C", peer: "hello end"),
            .reset: Story("CR"),
            .threadEnd: Story("", peer: " reset"),
        ],
        .open: open,
        .halfClosedByUs: halfClosedByUs,
        .halfClosedByPeer: halfClosedByPeer(reset: Story("CEB")),
        .draining: draining(cutOff: "part reset"),
        .failed: failed,
        .invalid: invalid,
    ]

    private static let unix: [State: [Action: Story]] = [
        // No peer exists that could reset a connection which waits for the listener's backlog.
        .connectingWithNothingQueued: [
            .send: Story("C", isValid: true, peer: "! end"),
            .endSending: Story("CE", peer: " end"),
            .invalidate: Story(""),
            .invalidateWhenDrained: Story("C", peer: " end"),
            .threadEnd: Story(""),
        ],
        .connecting: [
            .send: Story("C", isValid: true, peer: "hello! end"),
            .endSending: Story("CE", peer: "hello end"),
            .invalidate: Story(""),
            .invalidateWhenDrained: Story("C", peer: "hello end"),
            .threadEnd: Story(""),
        ],
        .connected: [
            .send: Story("C", isValid: true, peer: "hello! end"),
            .endSending: Story("CE", peer: "hello end"),
            .invalidate: Story("", peer: "hello end"),
            .invalidateWhenDrained: Story("C", peer: "hello end"),
            .reset: Story("CR"),
            .threadEnd: Story("", peer: "hello end"),
        ],
        .open: open,
        .halfClosedByUs: halfClosedByUs,
        .halfClosedByPeer: halfClosedByPeer(reset: Story("CER")),
        // The peer of a Unix-domain socket cannot be told.
        .draining: draining(cutOff: "part end"),
        .failed: failed,
        .invalid: invalid,
    ]

    private static let open: [Action: Story] = [
        .send: Story("C", isValid: true, peer: "hello! end"),
        .endSending: Story("CE", peer: "hello end"),
        .invalidate: Story("C", peer: "hello end"),
        .invalidateWhenDrained: Story("C", peer: "hello end"),
        .reset: Story("CR"),
        .threadEnd: Story("C", peer: "hello end"),
    ]

    private static let halfClosedByUs: [Action: Story] = [
        .send: Story("CE", peer: "hello end"),
        .endSending: Story("CE", peer: "hello end"),
        .invalidate: Story("C", peer: "hello end"),
        .invalidateWhenDrained: Story("C", peer: "hello end"),
        .reset: Story("CR"),
        .threadEnd: Story("C", peer: "hello end"),
    ]

    private static func halfClosedByPeer(reset: Story) -> [Action: Story] {
        [
            .send: Story("CE", isValid: true, peer: "hello! end"),
            .endSending: Story("CE", peer: "hello end"),
            .invalidate: Story("CE", peer: "hello end"),
            .invalidateWhenDrained: Story("CE", peer: "hello end"),
            .reset: reset,
            .threadEnd: Story("CE", peer: "hello end"),
        ]
    }

    private static func draining(cutOff: String) -> [Action: Story] {
        [
            .send: Story("C", peer: "all end"),
            .endSending: Story("C", peer: "all end"),
            .invalidate: Story("C", peer: cutOff),
            .invalidateWhenDrained: Story("C", peer: "all end"),
            .reset: Story("CR"),
            .threadEnd: Story("C", peer: cutOff),
        ]
    }

    private static let failed: [Action: Story] = [
        .send: Story("CR"), .endSending: Story("CR"), .invalidate: Story("C"),
        .invalidateWhenDrained: Story("CR"), .reset: Story("CR"), .threadEnd: Story("C"),
    ]

    private static let invalid: [Action: Story] = [
        .send: Story("C", peer: "hello end"),
        .endSending: Story("C", peer: "hello end"),
        .invalidate: Story("C", peer: "hello end"),
        .invalidateWhenDrained: Story("C", peer: "hello end"),
        .reset: Story("C"),
        .threadEnd: Story("C", peer: "hello end"),
    ]

    /// As over TCP, where connecting takes longer.
    @Test func aConnectionThatIsClosedWhileConnectingTellsThatItWasConnected() throws {
        try withLoop { loop in
            let folder = TemporaryFolder()
            let listener = try PlainListener(at: .unix(folder.path + "/socket"))
            let log = EventLog()
            let port = try SocketPort(connectingTo: listener.address) { log.note($1) }
            port.invalidateWhenDrained()
            #expect(port.isValid)
            loop.add(port, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["connected"] && !port.isValid)
        }
    }

    /// A peer must not take the end of some bytes for the end of all.
    @Test func aConnectionWhoseBytesTheSystemDoesNotSendIsReset() async {
        await #expect(processExitsWith: .success) {
            try onAnotherThread {
                let loop = UVRunLoop.current
                let server = try Server(loop)
                let peer = try Peer(connectingTo: server.address)
                loop.run(untilTrue: { !server.connections.isEmpty })
                let port = server.connection
                port.send([UInt8](repeating: 7, count: 8 << 20))
                precondition(port.queuedBytes > 0)
                refuseSending()
                let wasReset = SharedBox(false)
                let copy = dup(peer.number)
                let reader = startThread {
                    let peer = Peer(owning: copy)
                    var bytes: [UInt8]?
                    repeat { bytes = peer.read() } while bytes?.isEmpty == false
                    wasReset.value = bytes == nil
                }
                loop.run(untilTrue: { !port.isValid })
                precondition(server.log.entries == ["failed: the system refused"])
                reader.join()
                precondition(wasReset.value)
                server.close()
            }
        }
    }

    @Test func aConnectionThatTheKernelDoesNotWatchTellsItsError() async {
        await #expect(processExitsWith: .success) {
            try onAnotherThread {
                let loop = UVRunLoop.current
                let server = try Server(loop)
                let log = EventLog()
                let port = try SocketPort(connectingTo: server.address) { port, event in
                    if case .failed(let error) = event {
                        log.note("\(error.underlying == UVError(rawValue: -ENOSPC))")
                    }
                }
                loop.add(port, forMode: .default)
                refuseWatching(port.link.descriptor)
                loop.run(untilTrue: { !log.entries.isEmpty })
                precondition(log.entries == ["true"] && !port.isValid)
                server.close()
            }
        }
    }

    @Test func aListenerThatTheKernelDoesNotWatchTellsItsError() async {
        await #expect(processExitsWith: .success) {
            try onAnotherThread {
                let loop = UVRunLoop.current
                let log = EventLog()
                let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { port, event in
                    guard case .failed(let error) = event else { return log.note(event) }
                    log.note("\(error.underlying == UVError(rawValue: -ENOSPC)) \(port.isValid)")
                }
                loop.add(listener, forMode: .default)
                refuseWatching(listener.link.descriptor)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                precondition(log.entries == ["true false"], "\(log.entries)")
            }
        }
    }

    @Test func whateverHappensToATCPConnectionHasItsOutcome() throws {
        for (state, cells) in Self.tcp {
            for (action, expected) in cells {
                let subject = try ConnectionSubject(at: .ipv4Loopback(port: 0))
                let story = try subject.story(of: action, in: state, expecting: expected)
                #expect(story == expected, "\(action) while \(state)")
            }
        }
    }

    @Test func whateverHappensToAUnixConnectionHasItsOutcome() throws {
        for (state, cells) in Self.unix {
            for (action, expected) in cells {
                let place = Place()
                let subject = try ConnectionSubject(
                    at: .unix(place.path + "/socket"),
                    isFull: state.isConnecting
                )
                let story = try subject.story(of: action, in: state, expecting: expected)
                #expect(story == expected, "\(action) while \(state)")
            }
        }
    }

    // MARK: Without a listener

    @Test(arguments: [ConnectionStory.Action.send, .endSending, .invalidateWhenDrained])
    func aConnectionThatIsRefusedFailsWhateverWasAskedOfIt(
        action: ConnectionStory.Action
    ) throws {
        let place = Place()
        for address in [SocketAddress.ipv4Loopback(port: 0), .unix(place.path + "/socket")] {
            let deaf = try PlainListener(at: address, backlog: nil)
            try withLoop { loop in
                let log = EventLog()
                let port = try SocketPort(connectingTo: deaf.address) { log.note($1) }
                loop.add(port, forMode: .default)
                action.perform(on: port)
                #expect(loop.run(for: .seconds(60)) == .finished)
                #expect(log.entries == ["failed: the connection was refused"])
                #expect(!port.isValid)
            }
            deaf.close()
        }
    }

    @Test func aRefusalHoldsThoughSomebodyListensLater() throws {
        let place = Place()
        let path = SocketAddress.unix(place.path + "/socket")
        try withLoop { loop in
            let log = EventLog()
            let port = try SocketPort(connectingTo: path) { log.note($1) }
            let listener = try PlainListener(at: path)
            loop.add(port, forMode: .default)
            #expect(loop.run(for: .seconds(60)) == .finished)
            #expect(log.entries == ["failed: the path does not exist"])
            listener.close()
        }
    }
}
