/// All keys as they were at one moment; any thread may have it.
struct Snapshot: Sendable {
    /// The keyspace's pages, shared with it until either changes.
    let pages: [[Keyspace.Entry?]]

    /// The moment.
    let date: WallTime

    /// What a snapshot file begins with; the digit is the version of the format.
    static let signature = Array("KeyValue snapshot 1\n".utf8)

    /// The marks in front of a key and in front of the file's last words.
    enum Mark {
        static let entry: UInt8 = 1
        static let end: UInt8 = 0
    }
}

/// Notices changed bytes: FNV-1a with 64 bits.
///
/// It keeps out accidents, not forgers.
struct Checksum {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        let span = bytes.span
        var value = value
        for place in span.indices {
            value = (value ^ UInt64(span[place])) &* 0x100_0000_01B3
        }
        self.value = value
    }
}
