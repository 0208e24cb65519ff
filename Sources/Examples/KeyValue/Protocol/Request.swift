/// One command with its arguments, as places in the bytes that the client sent.
struct Request {
    /// What the places below refer to; it may hold bytes of other commands too.
    let bytes: [UInt8]

    /// Where each word is: the command's name first, then its arguments.
    let words: [Range<Int>]

    /// How many words there are, the name included.
    var count: Int { words.count }

    /// One word; the name has number 0.
    subscript(word: Int) -> ArraySlice<UInt8> { bytes[words[word]] }

    /// A word as text, for messages.
    func text(_ word: Int) -> String { String(decoding: self[word], as: UTF8.self) }

    /// A word that has to be a whole number.
    func integer(_ word: Int) throws(CommandError) -> Int {
        guard let value = self[word].decimalInteger else { throw .notAnInteger }
        return value
    }

    /// Whether a word is this one, whatever its case; `name` is in upper case.
    func isWord(_ word: Int, _ name: StaticString) -> Bool {
        let letters = self[word]
        guard letters.count == name.utf8CodeUnitCount else { return false }
        return name.description.utf8.elementsEqual(letters.lazy.map(\.asciiUppercased))
    }
}

extension UInt8 {
    /// The same letter in upper case, if this is one.
    var asciiUppercased: UInt8 {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= self ? self & 0xDF : self
    }

    /// The same letter in lower case, if this is one.
    var asciiLowercased: UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
    }
}
