/// All keys at one moment, for use on any thread.
struct Snapshot: Sendable {
    /// The keyspace's pages, shared copy-on-write.
    let pages: [[Keyspace.Entry?]]

    /// The time at which it was taken.
    let date: WallTime

    /// The file signature; the digit is the version of the format.
    static let signature = Array("KeyValue snapshot 1\n".utf8)

    /// The marks before a key and before the trailer.
    enum Mark {
        static let entry: UInt8 = 1
        static let end: UInt8 = 0
    }
}

/// A 64-bit FNV-1a checksum.
///
/// It detects accidental changes, not deliberate ones.
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
