/// One command with its arguments, as ranges of the received bytes.
struct Request {
    /// The buffer that the ranges refer to; it may hold other commands too.
    let bytes: [UInt8]

    /// The range of each word: the command's name first, then its arguments.
    let words: [Range<Int>]

    /// The number of words, the name included.
    var count: Int { words.count }

    /// One word; the name has index 0.
    subscript(word: Int) -> ArraySlice<UInt8> { bytes[words[word]] }

    /// A word as text, for messages.
    func text(_ word: Int) -> String { String(decoding: self[word], as: UTF8.self) }

    /// A word that has to be a whole number.
    func integer(_ word: Int) throws(CommandError) -> Int {
        guard let value = self[word].decimalInteger else { throw .notAnInteger }
        return value
    }

    /// Whether a word equals `name`, case-insensitively; `name` is in upper case.
    func isWord(_ word: Int, _ name: StaticString) -> Bool {
        let letters = self[word]
        guard letters.count == name.utf8CodeUnitCount else { return false }
        return name.description.utf8.elementsEqual(letters.lazy.map(\.asciiUppercased))
    }
}

extension UInt8 {
    /// The letter in upper case; other bytes unchanged.
    var asciiUppercased: UInt8 {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= self ? self & 0xDF : self
    }

    /// The letter in lower case; other bytes unchanged.
    var asciiLowercased: UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
    }
}
