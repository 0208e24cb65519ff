@testable import KeyValue

/// The bytes of a text, as an argument.
func bytes(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }

/// A command as client libraries encode it.
func encoded(_ words: [String]) -> [UInt8] {
    var text = "*\(words.count)\r\n"
    for word in words { text += "$\(word.utf8.count)\r\n\(word)\r\n" }
    return Array(text.utf8)
}

/// The words of every complete command in a parser.
func allRequests(of parser: inout RequestParser) throws -> [[String]] {
    var requests: [[String]] = []
    while let request = try parser.next() {
        requests.append((0..<request.count).map { request.text($0) })
    }
    return requests
}

/// An interpreter with a clock that the test sets.
struct Talker {
    var interpreter = Interpreter(facts: Facts())

    init(at milliseconds: Int = 1_000_000) {
        interpreter.now = WallTime(milliseconds: milliseconds)
    }

    /// Advances the clock.
    mutating func wait(milliseconds: Int) { interpreter.now.milliseconds += milliseconds }

    /// The reply, as text, to a command given as a line.
    mutating func say(_ line: String) throws -> String {
        var parser = RequestParser()
        try parser.append(Array("\(line)\n".utf8))
        interpreter.reply.removeAll()
        while let request = try parser.next() { _ = interpreter.run(request) }
        return String(decoding: interpreter.reply.bytes, as: UTF8.self)
            .replacing("\r\n", with: "|")
    }
}
