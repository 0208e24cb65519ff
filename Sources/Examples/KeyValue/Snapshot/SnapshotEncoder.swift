/// Encodes a snapshot as a file, piece by piece.
///
/// A file is the signature; then for each key a mark of 1, its expiry date (8 bytes, milliseconds
/// since 1970, the largest number for never), the lengths of key and value (4 bytes each) and both;
/// finally a mark of 0, the number of keys and the checksum of everything before it (8 bytes each).
/// Numbers are little-endian.
struct SnapshotEncoder {
    private let snapshot: Snapshot
    private var bytes: [UInt8] = Snapshot.signature
    private var checksum = Checksum()
    private var page = 0
    private var keys = 0
    private var isFinished = false

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    /// The next piece of the file, or `nil` after the last.
    mutating func next() -> [UInt8]? {
        if isFinished { return nil }
        while page < snapshot.pages.count, bytes.count < 256 << 10 {
            for case let entry? in snapshot.pages[page] where entry.expiry > snapshot.date {
                add(entry)
            }
            page += 1
        }
        if page == snapshot.pages.count { finish() }
        defer { bytes.removeAll() }
        checksum.add(bytes[...])
        if isFinished { bytes.append(littleEndian: checksum.value) }
        return bytes
    }

    private mutating func add(_ entry: Keyspace.Entry) {
        bytes.append(Snapshot.Mark.entry)
        bytes.append(littleEndian: UInt64(bitPattern: Int64(entry.expiry.milliseconds)))
        bytes.append(littleEndian: UInt32(entry.key.count))
        bytes.append(littleEndian: UInt32(entry.value.count))
        bytes.append(contentsOf: entry.key)
        bytes.append(contentsOf: entry.value)
        keys += 1
    }

    private mutating func finish() {
        bytes.append(Snapshot.Mark.end)
        bytes.append(littleEndian: UInt64(keys))
        isFinished = true
    }
}

extension [UInt8] {
    /// Appends a number in little-endian order.
    fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
