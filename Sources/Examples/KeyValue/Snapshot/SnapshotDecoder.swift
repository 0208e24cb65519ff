/// Why a file is not a valid snapshot.
enum SnapshotError: Error {
    case notASnapshot
    case otherVersion
    case cutShort
    case damaged

    /// The reason, to follow a file's name.
    var reason: String {
        switch self {
        case .notASnapshot: "it is no snapshot"
        case .otherVersion: "it was written by another version"
        case .cutShort: "it ends too early"
        case .damaged: "it is damaged"
        }
    }
}

/// Decodes a snapshot file, in pieces of any size.
///
/// The keys must not be used before `finish` has returned: only then is the checksum verified.
struct SnapshotDecoder {
    private var bytes: [UInt8] = []
    private var position = 0
    private var checksum = Checksum()
    private var keys: UInt64 = 0
    private var hasSignature = false
    private var hasEnd = false

    /// Adds the next piece of the file.
    mutating func append(_ piece: ArraySlice<UInt8>) {
        bytes.removeSubrange(..<position)
        position = 0
        bytes.append(contentsOf: piece)
    }

    /// The next key, or `nil` until more of the file is added.
    mutating func next() throws(SnapshotError) -> Keyspace.Entry? {
        if !hasSignature, try !readSignature() { return nil }
        guard !hasEnd, let mark = bytes[position...].first else { return nil }
        switch mark {
        case Snapshot.Mark.entry: return readEntry()
        case Snapshot.Mark.end: return try readEnd()
        default: throw .damaged
        }
    }

    /// Checks that the file ended after its trailer.
    func finish() throws(SnapshotError) {
        guard hasEnd else { throw hasSignature || bytes.isEmpty ? .cutShort : .notASnapshot }
        guard position == bytes.count else { throw .damaged }
    }

    private mutating func readSignature() throws(SnapshotError) -> Bool {
        let signature = Snapshot.signature
        let known = bytes.prefix(signature.count)
        // The version is the last word of the line; the name before it never changes.
        let name = signature.count - 2
        guard known.prefix(name) == signature.prefix(min(name, known.count)) else {
            throw .notASnapshot
        }
        guard known.count == signature.count else { return false }
        guard known[...] == signature[...] else { throw .otherVersion }
        hasSignature = true
        take(signature.count)
        return true
    }

    private mutating func readEntry() -> Keyspace.Entry? {
        let header = 1 + 8 + 4 + 4
        guard bytes.count - position >= header else { return nil }
        let expiry = Int64(bitPattern: number(at: 1, width: 8))
        let keyLength = Int(number(at: 9, width: 4))
        let valueLength = Int(number(at: 13, width: 4))
        guard bytes.count - position >= header + keyLength + valueLength else { return nil }

        let key = position + header
        let value = key + keyLength
        let entry = Keyspace.Entry(
            key: Array(bytes[key..<value]),
            value: Array(bytes[value..<value + valueLength]),
            expiry: WallTime(milliseconds: Int(expiry))
        )
        take(header + keyLength + valueLength)
        keys += 1
        return entry
    }

    private mutating func readEnd() throws(SnapshotError) -> Keyspace.Entry? {
        guard bytes.count - position >= 1 + 8 + 8 else { return nil }
        let announced = number(at: 1, width: 8)
        let expected = number(at: 9, width: 8)
        take(9)
        guard announced == keys, expected == checksum.value else { throw .damaged }
        position += 8
        hasEnd = true
        return nil
    }

    /// Advances past bytes and adds them to the checksum.
    private mutating func take(_ count: Int) {
        checksum.add(bytes[position..<position + count])
        position += count
    }

    /// The number at an offset.
    private func number(at offset: Int, width: Int) -> UInt64 {
        bytes[position + offset..<position + offset + width].reversed().reduce(0) {
            $0 << 8 | UInt64($1)
        }
    }
}
