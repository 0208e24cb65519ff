@testable import KeyValue

/// Bytes of a text, as arguments come.
func bytes(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }

/// A command as client libraries send it.
func encoded(_ words: [String]) -> [UInt8] {
    var text = "*\(words.count)\r\n"
    for word in words { text += "$\(word.utf8.count)\r\n\(word)\r\n" }
    return Array(text.utf8)
}

/// The words of every whole command that a parser has.
func allRequests(of parser: inout RequestParser) throws -> [[String]] {
    var requests: [[String]] = []
    while let request = try parser.next() {
        requests.append((0..<request.count).map { request.text($0) })
    }
    return requests
}

/// An interpreter with a clock that stands still until it is set.
struct Talker {
    var interpreter = Interpreter(facts: Facts())

    init(at milliseconds: Int = 1_000_000) {
        interpreter.now = WallTime(milliseconds: milliseconds)
    }

    /// Lets time pass.
    mutating func wait(milliseconds: Int) { interpreter.now.milliseconds += milliseconds }

    /// The reply to a command that is given as a line, as text.
    mutating func say(_ line: String) throws -> String {
        var parser = RequestParser()
        try parser.append(Array("\(line)\n".utf8))
        interpreter.reply.removeAll()
        while let request = try parser.next() { _ = interpreter.run(request) }
        return String(decoding: interpreter.reply.bytes, as: UTF8.self)
            .replacing("\r\n", with: "|")
    }
}
