import TestSupport

/// Bytes that show when one is lost or moved.
func sampleBytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes += block }
    bytes.removeLast(bytes.count - count)
    return bytes
}

/// Its length divides no buffer's.
private let block = {
    var random = SeededGenerator(seed: 1)
    return (0..<8_191).map { _ in random.byte() }
}()
