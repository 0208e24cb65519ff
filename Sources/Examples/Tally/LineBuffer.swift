/// Divides the bytes of a connection into lines.
struct LineBuffer {
    /// A line is longer than the limit.
    struct TooLong: Error, CustomStringConvertible {
        var description: String { "a line is too long" }
    }

    let limit: Int
    private var bytes: ArraySlice<UInt8> = []

    init(limit: Int) { self.limit = limit }

    /// Whether a line has begun and not ended.
    var isWithinLine: Bool { !bytes.isEmpty }

    mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

    /// Takes the next line that is complete, without its end.
    mutating func next() throws(TooLong) -> String? {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        guard line.count <= limit else { throw TooLong() }
        guard line.endIndex < bytes.endIndex else { return nil }
        bytes = bytes[(line.endIndex + 1)...]
        return String(
            decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line,
            as: UTF8.self
        )
    }
}
