/// Encodes replies into one buffer.
struct Reply {
    private(set) var bytes: [UInt8] = []

    /// Removes the bytes but keeps the capacity, unless one large reply made it large.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 64 << 10)
    }

    /// A short status, such as `OK`.
    mutating func status(_ word: String) {
        bytes.append(UInt8(ascii: "+"))
        bytes.append(contentsOf: word.utf8)
        endLine()
    }

    /// `OK`.
    mutating func ok() { bytes.append(contentsOf: Self.okLine) }

    /// An error; the text starts with a word in upper case that clients compare.
    mutating func error(_ text: String) {
        bytes.append(UInt8(ascii: "-"))
        // A line break would begin another reply.
        for byte in text.utf8 {
            bytes.append(byte == 10 || byte == 13 ? UInt8(ascii: " ") : byte)
        }
        endLine()
    }

    /// A number.
    mutating func integer(_ value: Int) { header(UInt8(ascii: ":"), value) }

    /// Any bytes.
    mutating func bulk(_ value: [UInt8]) {
        header(UInt8(ascii: "$"), value.count)
        bytes.append(contentsOf: value)
        endLine()
    }

    /// Any bytes, from a request.
    mutating func bulk(_ value: ArraySlice<UInt8>) {
        header(UInt8(ascii: "$"), value.count)
        bytes.append(contentsOf: value)
        endLine()
    }

    /// A text.
    mutating func bulk(_ text: String) {
        header(UInt8(ascii: "$"), text.utf8.count)
        bytes.append(contentsOf: text.utf8)
        endLine()
    }

    /// The reply for a missing key.
    mutating func null(version: Int) {
        bytes.append(contentsOf: version == 3 ? Self.thirdNullLine : Self.nullLine)
    }

    /// Begins an array of replies.
    mutating func array(_ count: Int) { header(UInt8(ascii: "*"), count) }

    /// Begins a map: a map in version 3, a flat array in version 2.
    mutating func map(_ count: Int, version: Int) {
        if version == 3 { header(UInt8(ascii: "%"), count) } else { array(count * 2) }
    }

    private mutating func header(_ kind: UInt8, _ value: Int) {
        bytes.append(kind)
        bytes.append(decimal: value)
        endLine()
    }

    private mutating func endLine() {
        bytes.append(13)
        bytes.append(10)
    }

    private static let okLine = Array("+OK\r\n".utf8)
    private static let nullLine = Array("$-1\r\n".utf8)
    private static let thirdNullLine = Array("_\r\n".utf8)
}
