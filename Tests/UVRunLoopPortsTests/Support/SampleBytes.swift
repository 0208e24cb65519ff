import TestSupport

/// Bytes that reveal lost or reordered ones.
func sampleBytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes += block }
    bytes.removeLast(bytes.count - count)
    return bytes
}

/// A length that is no multiple of a buffer's.
private let block = {
    var random = SeededGenerator(seed: 1)
    return (0..<8_191).map { _ in random.byte() }
}()
