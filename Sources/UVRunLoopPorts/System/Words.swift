extension RawSpan {
    /// Three consecutive little-endian numbers, from an offset.
    @inline(__always)
    func words(at offset: Int) -> (UInt64, UInt64, UInt64) {
        (
            littleEndianNumber(at: offset), littleEndianNumber(at: offset + 8),
            littleEndianNumber(at: offset + 16)
        )
    }

    @inline(__always)
    private func littleEndianNumber(at offset: Int) -> UInt64 {
        // The offset is bounds-checked, and any bytes are a valid number.
        unsafe UInt64(
            littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        )
    }

    /// Copies a range of bytes; traps if it is out of bounds.
    @inline(__always)
    func copy(_ range: Range<Int>) -> [UInt8] {
        guard !range.isEmpty else { return [] }
        return unsafe extracting(range).withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// Appends a range of bytes to an array.
    func append(_ range: Range<Int>, to array: inout [UInt8]) {
        unsafe extracting(range).withUnsafeBytes { unsafe array.append(contentsOf: $0) }
    }
}

extension ArraySlice<UInt8> {
    /// Lends the bytes without copying.
    func lendBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe try body(span.bytes)
    }
}

/// The little-endian bytes of three numbers, followed by two slices.
struct WordsAndPieces: ~Copyable {
    let words: (UInt64, UInt64, UInt64)
    let pieces: (ArraySlice<UInt8>, ArraySlice<UInt8>)

    var count: Int { MemoryLayout<UInt64>.size * 3 + pieces.0.count + pieces.1.count }

    /// Lends the bytes in contiguous stack memory, which is cheaper than an array.
    borrowing func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { bytes in
            unsafe bytes.storeBytes(of: words.0.littleEndian, as: UInt64.self)
            unsafe bytes.storeBytes(of: words.1.littleEndian, toByteOffset: 8, as: UInt64.self)
            unsafe bytes.storeBytes(of: words.2.littleEndian, toByteOffset: 16, as: UInt64.self)
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[24...])
            unsafe pieces.0.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
            let last = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[pieces.0.count...])
            unsafe pieces.1.withUnsafeBytes { unsafe last.copyMemory(from: $0) }
            return unsafe body(UnsafeRawBufferPointer(bytes))
        }
    }
}

extension [UInt8] {
    init(_ source: borrowing WordsAndPieces) {
        self = unsafe source.withBytes { unsafe Array($0) }
    }
}
