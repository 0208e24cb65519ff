import Glibc

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The observations of both sides of a connection when something happens to it.
struct ConnectionStory: Equatable, CustomStringConvertible, Sendable {
    /// The state of the connection.
    enum State: Sendable {
        /// TCP: the kernel is connecting. Unix: the listener's backlog is full.
        case connecting
        case connectingWithNothingQueued
        /// The kernel has connected; the handler was not called yet.
        case connected
        case open
        case halfClosedByUs
        case halfClosedByPeer
        /// `invalidateWhenDrained()` was called with many queued bytes.
        case draining
        /// A send has failed because of the peer's reset; the handler was not called yet.
        case failed
        case invalid

        var isConnecting: Bool { self == .connecting || self == .connectingWithNothingQueued }

        var acceptsMore: Bool {
            switch self {
            case .connecting, .connectingWithNothingQueued, .connected, .open, .halfClosedByPeer:
                true
            case .halfClosedByUs, .draining, .failed, .invalid: false
            }
        }
    }

    /// The action on the connection.
    enum Action: Sendable {
        case send, endSending, invalidate, invalidateWhenDrained
        /// The peer resets the connection.
        case reset
        /// The thread of the port's loop ends.
        case threadEnd

        func perform(on port: SocketPort) {
            switch self {
            case .send: port.send("!".utf8)
            case .endSending: port.endSending()
            case .invalidate: port.invalidate()
            case .invalidateWhenDrained: port.invalidateWhenDrained()
            case .reset, .threadEnd: break
            }
        }
    }

    /// The events in order, one letter each: Connected, Ended, failed by a Reset or a Broken pipe.
    var events: String
    /// Whether the port was valid after all events.
    var isValid = false
    /// The bytes that the peer read, and how its input ended; empty if it did not read.
    var peer: String

    init(_ events: String, isValid: Bool = false, peer: String = "") {
        self.events = events
        self.isValid = isValid
        self.peer = peer
    }

    var description: String { "\(events) \(isValid ? "valid" : "invalid") [\(peer)]" }

    /// The letter of an event; empty for those that depend on how much the kernel accepts at once.
    static func letter(of event: SocketPort.Event) -> String {
        switch event {
        case .connected: "C"
        case .ended: "E"
        case .drained: ""
        case .failed(let error) where error.code == .connectionReset: "R"
        case .failed(let error) where error.code == .brokenPipe: "B"
        case .accepted, .received, .failed: "(\(event.text))"
        }
    }
}

/// A port that has sent "hello", and a peer with plain system calls that has not read it.
final class ConnectionSubject {
    private let listener: PlainListener
    /// Fills the backlog of a listener that has room for one client.
    private var crowd: [Peer] = []
    private let events = EventLog()
    private var peer: Peer?
    private var sent = Array("hello".utf8)

    init(at address: SocketAddress, isFull: Bool = false) throws {
        listener = try PlainListener(at: address, backlog: isFull ? 0 : 128)
        if isFull { crowd = [try Peer(connectingTo: listener.address)] }
    }

    /// Brings the port to a state, performs an action, and records the result.
    func story(
        of action: ConnectionStory.Action,
        in state: ConnectionStory.State,
        expecting expected: ConnectionStory
    ) throws -> ConnectionStory {
        let read = EventLog()
        var reader: RunningThread?
        var isValid = false
        let port = try withLoop { loop in
            let port = try SocketPort(connectingTo: listener.address) { [events] _, event in
                events.note(ConnectionStory.letter(of: event))
            }
            if state == .connectingWithNothingQueued { sent = [] }
            port.send(sent)
            loop.add(port, forMode: .default)
            bring(port, to: state, loop)
            if action == .reset { acceptedPeer().reset() }
            if action == .send, state.acceptsMore { sent += Array("!".utf8) }
            action.perform(on: port)
            if action == .threadEnd { return port }
            if !expected.peer.isEmpty { reader = startReading(into: read) }
            settle(port, loop, expected)
            isValid = port.isValid
            port.invalidate()
            return port
        }
        if action == .threadEnd {
            isValid = port.isValid
            if !expected.peer.isEmpty { reader = startReading(into: read) }
        }
        reader?.join()
        let story = events.entries.joined()
        return ConnectionStory(story, isValid: isValid, peer: read.entries.joined())
    }

    private func bring(
        _ port: SocketPort,
        to state: ConnectionStory.State,
        _ loop: UVRunLoop
    ) {
        if state.isConnecting || state == .connected { return }
        run(loop) { !events.entries.isEmpty && port.queuedBytes == 0 }
        switch state {
        case .connecting, .connectingWithNothingQueued, .connected, .open: break
        case .halfClosedByUs: port.endSending()
        case .halfClosedByPeer:
            acceptedPeer().endSending()
            run(loop) { events.count == 2 }
        case .draining:
            while port.queuedBytes < 100_000 {
                let bytes = sampleBytes(500_000)
                port.send(bytes)
                sent += bytes
            }
            port.invalidateWhenDrained()
        case .failed:
            acceptedPeer().reset()
            while port.send([1]) { usleep(100) }
        case .invalid: port.invalidate()
        }
    }

    /// The other side of the port's connection.
    private func acceptedPeer() -> Peer {
        if let peer { return peer }
        for _ in crowd { listener.accept().close() }
        let accepted = listener.accept()
        peer = accepted
        return accepted
    }

    /// Runs the loop until all expected events have occurred, and a little longer.
    private func settle(_ port: SocketPort, _ loop: UVRunLoop, _ expected: ConnectionStory) {
        run(loop) {
            let isSent = !port.isValid || port.queuedBytes == 0
            return isSent && port.isValid == expected.isValid
                && events.entries.joined() == expected.events
        }
        loop.run(for: .milliseconds(2))
    }

    /// Runs the loop until a condition holds; sources that handle nothing may make it true.
    private func run(_ loop: UVRunLoop, until condition: () -> Bool) {
        let end = UVRunLoop.Instant.now + .seconds(120)
        while !condition(), .now < end {
            loop.run(for: .milliseconds(5), returnAfterSourceHandled: true)
        }
    }

    /// Has the peer read to the end and then close, on another thread.
    private func startReading(into log: EventLog) -> RunningThread {
        startUncheckedThread { [self] in
            let peer = acceptedPeer()
            let (bytes, end) = peer.readAll()
            log.note("\(text(of: bytes)) \(end.rawValue)")
            peer.close()
        }
    }

    private func text(of bytes: [UInt8]) -> String {
        if bytes.count < 10 { return String(decoding: bytes, as: UTF8.self) }
        if bytes == sent { return "all" }
        return bytes == Array(sent.prefix(bytes.count)) ? "part" : "garbage"
    }
}
