import BenchSupport
import Glibc

/// A pair of descriptors: what is written to one is read from the other.
struct Channel {
    let readEnd: CInt
    let writeEnd: CInt

    /// Opens a pipe or a pair of sockets; neither blocks.
    init(isSocket: Bool) {
        var ends: [CInt] = [-1, -1]
        let status =
            isSocket ? socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)
        demand(status == 0, "the system to open a pipe or a pair of sockets", "error \(errno)")
        for end in ends { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    /// The outcome of reading or writing.
    enum Outcome {
        case bytes(Int)
        /// There is nothing, or no room.
        case notNow
        case end
    }

    static func read(_ descriptor: CInt, _ buffer: inout [UInt8], atMost limit: Int) -> Outcome {
        let count = Glibc.read(descriptor, &buffer, min(limit, buffer.count))
        if count == 0 { return .end }
        return outcome(count)
    }

    static func write(_ descriptor: CInt, _ bytes: [UInt8]) -> Outcome {
        outcome(Glibc.write(descriptor, bytes, bytes.count))
    }

    private static func outcome(_ count: Int) -> Outcome {
        if count > 0 { return .bytes(count) }
        demand(
            errno == EAGAIN || errno == EINTR,
            "an open pipe or socket to be read and written",
            "error \(errno)"
        )
        return .notNow
    }
}

/// Bytes that look random, of which reader and writer know every one.
struct ByteStream {
    private let seed: UInt64
    /// How many have been taken.
    private(set) var count = 0

    init(_ seed: UInt64) { self.seed = seed }

    /// The byte at a place.
    private func byte(_ place: Int) -> UInt8 {
        let word = SplitMix64.mix(seed &+ UInt64(place / 8))
        return UInt8(truncatingIfNeeded: word >> (UInt64(place % 8) * 8))
    }

    /// The next bytes, which stay the next ones until they are taken.
    func next(_ count: Int) -> [UInt8] { (self.count..<self.count + count).map(byte) }

    mutating func take(_ count: Int) { self.count += count }

    /// Answers the place of the first of some bytes that is not as it should be.
    func mismatch(_ bytes: ArraySlice<UInt8>) -> Int? {
        for (offset, byte) in bytes.enumerated() where byte != self.byte(count + offset) {
            return count + offset
        }
        return nil
    }
}
