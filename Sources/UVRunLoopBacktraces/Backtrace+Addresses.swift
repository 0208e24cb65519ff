import FoundationEssentials
// Not for system calls: without it, a program with a static standard library that uses `Runtime`
// does not link in Swift 6.3.1.
internal import UVLibc
import Runtime

extension Backtrace {
    /// Makes a backtrace of addresses: a program counter, then return addresses.
    ///
    /// The runtime captures only the calling thread. But a backtrace can be decoded, from the
    /// runtime's compact format in base 64.
    init?(_ stack: [UInt]) {
        guard !stack.isEmpty, let images = try? Backtrace.capture(limit: 1, images: .capture()),
            let encoded = try? JSONEncoder().encode(images),
            var parts = try? JSONDecoder().decode(Parts.self, from: encoded)
        else { return nil }
        parts.backtrace = Data(Self.compact(stack)).base64EncodedString()
        guard let text = try? JSONEncoder().encode(parts),
            let decoded = try? JSONDecoder().decode(Backtrace.self, from: text)
        else { return nil }
        self = decoded
    }

    /// The encoded form of a backtrace.
    private struct Parts: Codable {
        var architecture: String
        var backtrace: String
        var imageMap: String?
    }

    /// Addresses in the compact format: a byte for the size of words, then for each address a byte
    /// that says what it is, and the difference to the one before in eight bytes, the high one
    /// first.
    private static func compact(_ stack: [UInt]) -> [UInt8] {
        let words64: UInt8 = 2
        let (programCounter, returnAddress): (UInt8, UInt8) = (0x17, 0x27)
        var bytes = [words64]
        var last: UInt = 0
        for (index, address) in stack.enumerated() {
            bytes.append(index == 0 ? programCounter : returnAddress)
            let difference = UInt64(address &- last)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: difference >> UInt64(shift)))
            }
            last = address
        }
        return bytes + [0]
    }
}
