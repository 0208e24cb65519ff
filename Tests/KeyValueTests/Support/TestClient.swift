import Glibc
import TestSupport

@testable import KeyValue

/// A client that waits for its replies, with a limit.
final class TestClient {
    private let socket: CInt
    private var parser = ReplyParser()
    /// Retained, so that the server runs as long as it has a client.
    private let program: ChildProgram

    init(_ program: ChildProgram, port: UInt16) throws {
        self.program = program
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let failure = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard failure == 0 else { throw Trouble("cannot connect: \(errno)") }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            socket,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &limit,
            socklen_t(MemoryLayout<timeval>.size)
        )
    }

    deinit { close(socket) }

    /// Sends all bytes.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(1 << 16))
            let count = Glibc.send(socket, piece, piece.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Shuts down the sending side.
    func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// The next reply; `nil` at the end or after the limit.
    func nextReply() throws -> ReplyValue? {
        while true {
            if let reply = try parser.next() { return reply }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(socket, &buffer, buffer.count, 0)
            // With a receive limit, a read is not restarted after a signal.
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            parser.append(Array(buffer[..<count]))
        }
    }

    /// The reply to one command.
    func ask(_ words: String...) throws -> ReplyValue? {
        send(encoded(words))
        return try nextReply()
    }

    /// Repeats a command until it gets the expected reply.
    ///
    /// Returns whether it did.
    func awaitReply(_ reply: ReplyValue, to words: String...) throws -> Bool {
        for _ in 0..<3000 {
            send(encoded(words))
            if try nextReply() == reply { return true }
            usleep(10_000)
        }
        return false
    }
}

extension ReplyValue {
    static let ok = ReplyValue.status("OK")
    static let pong = ReplyValue.status("PONG")

    static func text(_ text: String) -> ReplyValue { .bulk(Array(text.utf8)) }
}
