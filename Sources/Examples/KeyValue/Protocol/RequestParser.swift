/// Parses commands from a stream of bytes, however it is split.
///
/// Each byte is examined once: parsing resumes where it stopped, so a client that sends byte by
/// byte costs no more than another. Announced lengths allocate nothing before the bytes arrive. A
/// client without an unfinished command holds no buffer.
struct RequestParser {
    /// The limits of a request, as in Redis.
    struct Limits {
        /// The most bytes of one word.
        var word = 512 << 20
        /// The most words of one command.
        var words = 1024 * 1024
        /// The most bytes of a command written as a line, and of a line that announces a length.
        var line = 64 << 10
        /// The most bytes of one unfinished command.
        var query = 1 << 30
    }

    let limits: Limits

    private var input: [UInt8] = []
    /// The start of the command that is being parsed.
    private var start = 0
    /// The first byte that is not parsed.
    private var position = 0
    /// The first byte in which no line break was searched for.
    private var searched = 0
    /// The words of the current command so far.
    private var words: [Range<Int>] = []
    /// The number of words still to come; 0 between commands.
    private var missingWords = 0
    /// The length of the next word, once known.
    private var wordLength: Int?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Whether unparsed bytes are buffered: of an unfinished command, or of commands not requested
    /// yet.
    var hasInput: Bool { position < input.count || missingWords > 0 }

    /// Adds received bytes.
    mutating func append(_ bytes: [UInt8]) throws(ProtocolError) {
        if start == input.count {
            // The usual case: nothing is unfinished, and the received bytes are used without
            // copying.
            move(by: start)
            input = bytes
            return
        }
        if start > 0 {
            input.removeSubrange(..<start)
            move(by: start)
        }
        guard input.count + bytes.count <= limits.query else { throw .queryTooLong }
        input.append(contentsOf: bytes)
    }

    /// The next complete command, or `nil` until more bytes have arrived.
    mutating func next() throws(ProtocolError) -> Request? {
        while position < input.count {
            if missingWords == 0 {
                words.removeAll(keepingCapacity: true)
                start = position
                guard try readHeader() else { return nil }
            } else {
                guard try readWord() else { return nil }
            }
            if missingWords == 0 {
                start = position
                if !words.isEmpty { return Request(bytes: input, words: words) }
            }
        }
        if missingWords == 0 { forgetInput() }
        return nil
    }

    /// Releases a buffer that is used up.
    private mutating func forgetInput() {
        input = []
        (start, position, searched) = (0, 0, 0)
    }

    /// Shifts all positions after bytes were removed.
    private mutating func move(by distance: Int) {
        position -= distance
        searched = max(searched - distance, 0)
        for word in words.indices where missingWords > 0 {
            words[word] =
                words[word].lowerBound - distance..<words[word].upperBound - distance
        }
        start = 0
    }

    // MARK: The parts of a command

    /// Parses `*3`, which announces words, or a whole command that is written as a line.
    ///
    /// Returns `false` if it is incomplete.
    private mutating func readHeader() throws(ProtocolError) -> Bool {
        guard input[position] == UInt8(ascii: "*") else { return try readInlineCommand() }
        guard let line = takeLine(endingWith: UInt8(ascii: "\r")) else {
            if input.count - position > limits.line { throw .headerTooLong }
            return false
        }
        guard let count = input[line].dropFirst().decimalInteger, count <= limits.words else {
            throw .badWordCount
        }
        missingWords = max(count, 0)
        return true
    }

    /// Parses `$5` and the five bytes that it announces.
    private mutating func readWord() throws(ProtocolError) -> Bool {
        if wordLength == nil { wordLength = try readWordLength() }
        guard let length = wordLength else { return false }
        guard input.count - position >= length + 2 else { return false }
        words.append(position..<position + length)
        position += length + 2
        searched = position
        wordLength = nil
        missingWords -= 1
        return true
    }

    private mutating func readWordLength() throws(ProtocolError) -> Int? {
        guard let line = takeLine(endingWith: UInt8(ascii: "\r")) else {
            if input.count - position > limits.line { throw .wordHeaderTooLong }
            return nil
        }
        guard input[line.lowerBound] == UInt8(ascii: "$") else {
            throw .expectedWord(instead: input[line.lowerBound])
        }
        guard let length = input[line].dropFirst().decimalInteger, 0...limits.word ~= length
        else { throw .badWordLength }
        return length
    }

    /// Parses an inline command: words separated by blanks.
    private mutating func readInlineCommand() throws(ProtocolError) -> Bool {
        guard let line = takeLine(endingWith: UInt8(ascii: "\n")) else {
            if input.count - position > limits.line { throw .inlineTooLong }
            return false
        }
        guard InlineWords.split(line, of: &input, into: &words) else { throw .unbalancedQuotes }
        return true
    }

    /// Advances past a line, if it is complete, and returns its range.
    ///
    /// A line that ends with `\r` has one more byte, which is not checked, as in Redis.
    private mutating func takeLine(endingWith end: UInt8) -> Range<Int>? {
        let tail = end == UInt8(ascii: "\r") ? 1 : 0
        var place = max(searched, position)
        while place < input.count - tail {
            if input[place] == end {
                let line = position..<place
                position = place + 1 + tail
                searched = position
                return line
            }
            place += 1
        }
        searched = place
        return nil
    }
}
