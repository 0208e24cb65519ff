import Glibc
import UVRunLoop
import UVRunLoopPorts

/// The meaning of a message's id.
enum MessageKind: Int32 {
    /// The data is a word; the reply is its meaning.
    case ask = 1
    /// The data is a word, a zero byte, and its meaning; there is no reply.
    case teach = 2
}

/// The words that a process keeps, and the port through which others ask.
final class WordBook {
    /// What a message may have, in bytes.
    static let maximumMessageSize = 64 << 10
    private var meanings: [String: String] = [:]
    private var port: UVRunLoop.MessagePort.Local?

    init(named name: String, on loop: UVRunLoop) throws {
        var limits = UVRunLoop.MessagePort.Limits()
        limits.maximumMessageSize = Self.maximumMessageSize
        let port = try UVRunLoop.MessagePort.local(named: name, limits: limits) {
            [unowned self] _, message in
            reply(to: message)
        }
        loop.add(port, forMode: .default)
        self.port = port
    }

    var count: Int { meanings.count }

    private func reply(to message: UVRunLoop.MessagePort.Message) -> [UInt8]? {
        switch MessageKind(rawValue: message.id) {
        case .ask:
            return meanings[String(decoding: message.data, as: UTF8.self)].map { Array($0.utf8) }
        case .teach:
            let parts = message.data.split(separator: 0, maxSplits: 1)
                .map { String(decoding: $0, as: UTF8.self) }
            if parts.count == 2 { meanings[parts[0]] = parts[1] }
            return nil
        case nil: return nil
        }
    }

    /// Releases the name; clients that wait get an error.
    func end() { port?.invalidate() }
}

/// A word and its meaning are more than a message may have.
struct TooLong: Error, CustomStringConvertible {
    var description: String {
        "A word and its meaning may have \(WordBook.maximumMessageSize) bytes."
    }
}

/// Asks the process that serves a name.
struct Client {
    private static let limit = Duration.seconds(5)
    private let port: UVRunLoop.MessagePort.Remote

    init(named name: String) throws(UVRunLoop.MessagePortError) {
        port = try UVRunLoop.MessagePort.remote(named: name)
    }

    /// Asks for a meaning; the calling thread's loop runs until the reply is there.
    func meaning(of word: String) throws(UVRunLoop.MessagePortError) -> String? {
        let reply = try port.send(
            id: MessageKind.ask.rawValue,
            data: Array(word.utf8),
            receiveLimit: Self.limit,
            replyMode: .connectionReply
        )
        return reply.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Sends a word and its meaning, to which there is no reply.
    ///
    /// - Throws: What the port throws; ``TooLong`` for a message that the other side would refuse.
    func teach(_ word: String, _ meaning: String) throws {
        let data = Array(word.utf8) + [0] + Array(meaning.utf8)
        guard data.count <= WordBook.maximumMessageSize else { throw TooLong() }
        try port.send(id: MessageKind.teach.rawValue, data: data, sendLimit: Self.limit)
    }
}

/// Writes a line at once, also to a pipe; ends the program if nobody can read what it is for.
func say(_ line: String, to descriptor: CInt = STDOUT_FILENO) {
    let bytes = Array((line + "\n").utf8)
    guard write(descriptor, bytes, bytes.count) >= 0 || descriptor == STDERR_FILENO else {
        perror("Lookup")
        exit(1)
    }
}
