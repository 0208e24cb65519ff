import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(15))) struct SnapshotTests {
    private let now = WallTime(milliseconds: 5000)

    @Test func whatIsWrittenIsReadWhateverThePieces() throws {
        var keyspace = Keyspace()
        for number in 0..<3000 {
            let expiry = WallTime(milliseconds: 4000 + number)
            let value = String(repeating: "v", count: number % 700)
            keyspace.set(
                bytes("key \(number)\r\n\0"),
                to: bytes(value),
                expiry: number % 3 == 0 ? expiry : .never,
                at: WallTime(milliseconds: 0)
            )
        }
        let file = encode(keyspace)
        let expected = Set(keyspaceKeys(keyspace))
        #expect(expected.count == 2666)
        for size in [file.count, 4096, 7] {
            let entries = try decode(file, pieces: size)
            #expect(Set(entries.map(\.key)) == expected)
            for entry in entries {
                let found = keyspace.slot(of: entry.key[...], at: now)
                let slot = try #require(found)
                #expect(keyspace.value(of: slot) == entry.value)
                #expect(keyspace.expiry(of: slot) == entry.expiry)
            }
        }
    }

    @Test func anEmptyKeyspaceIsAFileToo() throws {
        #expect(try decode(encode(Keyspace()), pieces: 100).isEmpty)
    }

    @Test func everyChangedByteIsNoticed() throws {
        let file = encode(smallKeyspace)
        for place in file.indices {
            var broken = file
            broken[place] ^= 0x10
            #expect(throws: SnapshotError.self) { try decode(broken, pieces: 64) }
        }
    }

    @Test func everyCutIsNoticed() throws {
        let file = encode(smallKeyspace)
        for length in file.indices {
            #expect(throws: SnapshotError.self) { try decode(Array(file[..<length]), pieces: 64) }
        }
        #expect(throws: SnapshotError.damaged) { try decode(file + [0], pieces: 64) }
    }

    @Test func otherFilesAreCalledWhatTheyAre() {
        #expect(throws: SnapshotError.notASnapshot) {
            try decode(Array("REDIS0011".utf8), pieces: 9)
        }
        #expect(throws: SnapshotError.cutShort) { try decode([], pieces: 9) }
        #expect(throws: SnapshotError.otherVersion) {
            try decode(Array("KeyValue snapshot 2\n".utf8), pieces: 64)
        }
    }

    private var smallKeyspace: Keyspace {
        var keyspace = Keyspace()
        keyspace.set(bytes("a"), to: bytes("one"), at: now)
        keyspace.set(bytes("b"), to: bytes("two"), expiry: .init(milliseconds: 9999), at: now)
        return keyspace
    }

    private func keyspaceKeys(_ keyspace: Keyspace) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        _ = keyspace.scan(from: 0, slots: .max, at: now) { keys.append($0.key) }
        return keys
    }

    private func encode(_ keyspace: Keyspace) -> [UInt8] {
        var encoder = SnapshotEncoder(keyspace.snapshot(at: now))
        var file: [UInt8] = []
        while let piece = encoder.next() { file += piece }
        return file
    }

    private func decode(_ file: [UInt8], pieces size: Int) throws -> [Keyspace.Entry] {
        var decoder = SnapshotDecoder()
        var entries: [Keyspace.Entry] = []
        for start in stride(from: 0, to: file.count, by: max(size, 1)) {
            decoder.append(file[start..<min(start + size, file.count)])
            while let entry = try decoder.next() { entries.append(entry) }
        }
        try decoder.finish()
        return entries
    }
}
