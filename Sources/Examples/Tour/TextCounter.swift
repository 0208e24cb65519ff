/// Counts lines, words and bytes of a text that arrives in pieces, as `wc` does.
struct TextCounter {
    private(set) var lines = 0
    private(set) var words = 0
    private(set) var bytes = 0

    /// Whether the last piece ended inside a word.
    private var isInWord = false

    mutating func count(_ piece: ArraySlice<UInt8>) {
        bytes += piece.count
        for byte in piece {
            if byte == UInt8(ascii: "\n") { lines += 1 }
            let isSpace = byte == UInt8(ascii: " ") || (9...13).contains(byte)
            if !isSpace && !isInWord { words += 1 }
            isInWord = !isSpace
        }
    }
}
