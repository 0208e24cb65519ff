import Glibc
import UVRunLoop
import UVRunLoopPorts

/// Sends requests one at a time, and passes on their answers.
struct Client {
    private let loop: UVRunLoop
    private let connection: UVRunLoop.SocketPort
    private let limit: Duration
    private var answers = LineBuffer(limit: 4096)

    /// Connects to a service.
    init(
        on loop: UVRunLoop,
        to address: UVRunLoop.SocketAddress,
        _ limit: Duration
    ) async throws {
        let connection = try UVRunLoop.SocketPort(connectingTo: address)
        loop.add(connection, forMode: .common)
        self.loop = loop
        self.connection = connection
        self.limit = limit
        try await loop.withLimit(limit) { try await connection.connected() }
    }

    /// Sends a line, and waits for the answer.
    mutating func ask(_ line: String) async throws -> String {
        connection.send("\(line)\n".utf8)
        while true {
            if let answer = try answers.next() { return answer }
            guard let bytes = try await connection.nextBytes(in: loop, within: limit) else {
                throw Trouble("the service has ended the connection")
            }
            answers.append(bytes)
        }
    }

    /// Sends the lines of standard input as they come.
    mutating func ask(from input: UVRunLoop.Readiness, _ show: (String) throws -> Void) async throws
    {
        var lines = LineBuffer(limit: 1 << 20)
        for await _ in input {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            lines.append(buffer.prefix(max(count, 0)))
            // The last line needs no end.
            if count <= 0, lines.isWithinLine { lines.append("\n".utf8) }
            while let line = try lines.next() { try show(try await ask(line)) }
            if count <= 0 { return }
        }
    }
}
