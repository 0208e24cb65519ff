/// Splits a command typed as one line into words, with shell-like quotes.
///
/// Words are unescaped in place: they only get shorter.
enum InlineWords {
    /// Appends the ranges of a line's words.
    ///
    /// Returns `false` if a quote is not closed.
    ///
    /// In double quotes `\n`, `\r`, `\t`, `\b`, `\a` and `\xFF` are escapes; in single quotes only
    /// `\'` is.
    static func split(
        _ line: Range<Int>,
        of bytes: inout [UInt8],
        into words: inout [Range<Int>]
    ) -> Bool {
        var place = line.lowerBound
        while true {
            while place < line.upperBound, isBlank(bytes[place]) { place += 1 }
            if place == line.upperBound { return true }
            let start = place
            var end = place
            guard readWord(&bytes, from: &place, to: line.upperBound, writingAt: &end) else {
                return false
            }
            words.append(start..<end)
        }
    }

    private static func readWord(
        _ bytes: inout [UInt8],
        from place: inout Int,
        to limit: Int,
        writingAt end: inout Int
    ) -> Bool {
        while place < limit, !isBlank(bytes[place]) {
            let byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                return readQuoted(byte, &bytes, from: &place, to: limit, writingAt: &end)
            }
            bytes[end] = byte
            end += 1
        }
        return true
    }

    /// Reads up to the closing quote, which a blank or the end of the line has to follow.
    private static func readQuoted(
        _ quote: UInt8,
        _ bytes: inout [UInt8],
        from place: inout Int,
        to limit: Int,
        writingAt end: inout Int
    ) -> Bool {
        while place < limit {
            var byte = bytes[place]
            place += 1
            if byte == quote { return place == limit || isBlank(bytes[place]) }
            if byte == UInt8(ascii: "\\"), place < limit {
                byte = unescape(bytes, quote, &place, limit)
            }
            bytes[end] = byte
            end += 1
        }
        return false
    }

    /// Decodes an escape after a backslash and advances past it.
    private static func unescape(
        _ bytes: [UInt8],
        _ quote: UInt8,
        _ place: inout Int,
        _ limit: Int
    ) -> UInt8 {
        let next = bytes[place]
        if quote == UInt8(ascii: "'") {
            guard next == quote else { return UInt8(ascii: "\\") }
            place += 1
            return next
        }
        if next == UInt8(ascii: "x"), place + 2 < limit,
            let high = hexDigit(bytes[place + 1]), let low = hexDigit(bytes[place + 2])
        {
            place += 3
            return high << 4 | low
        }
        place += 1
        switch next {
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "b"): return 8
        case UInt8(ascii: "a"): return 7
        default: return next
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte.asciiLowercased {
        case let digit where UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit:
            digit - UInt8(ascii: "0")
        case let digit where UInt8(ascii: "a")...UInt8(ascii: "f") ~= digit:
            digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || 9...13 ~= byte || byte == 0 }
}
