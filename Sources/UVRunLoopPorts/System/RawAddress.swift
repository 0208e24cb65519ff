package import UVLibc
import UVRunLoop

/// The kernel's numbers of address families.
enum AddressFamily {
    static let ipv4 = AF_INET
    static let ipv6 = AF_INET6
    static let unix = AF_UNIX
}

/// A socket's address as the bytes of a `sockaddr`.
package struct RawAddress: Hashable, Sendable {
    /// The longest path of a Unix-domain socket in bytes, without the terminating zero.
    static let longestPath = 107
    private static let pathStart = 2
    private static let capacity = 128

    package private(set) var bytes: [UInt8]

    /// An address that the system has written; it is checked when it is read.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// The address of a Unix-domain socket; `nil` for a path that is too long, empty, or contains a
    /// zero byte.
    init?(unixPath path: String) {
        let path = Array(path.utf8)
        guard !path.isEmpty, path.count <= Self.longestPath, !path.contains(0) else { return nil }
        bytes = Self.family(AF_UNIX) + path + [0]
    }

    init(ipv4 host: UInt32, port: UInt16) {
        bytes = Self.family(AF_INET) + port.bigEndianBytes + host.bigEndianBytes
        bytes += [UInt8](repeating: 0, count: 8)
    }

    init(ipv6 host: (high: UInt64, low: UInt64), scope: UInt32, port: UInt16) {
        bytes = Self.family(AF_INET6) + port.bigEndianBytes + [0, 0, 0, 0]
        bytes += host.high.bigEndianBytes + host.low.bigEndianBytes
        bytes += unsafe withUnsafeBytes(of: scope) { unsafe Array($0) }
    }

    /// An address that a system call writes.
    init(_ call: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> CInt) throws(UVError) {
        var buffer = [UInt8](repeating: 0, count: Self.capacity)
        var length = socklen_t(Self.capacity)
        let status = unsafe buffer.withUnsafeMutableBytes { raw -> CInt in
            guard let base = raw.baseAddress else { return -1 }
            return unsafe call(base.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard status == 0 else { throw UVError(rawValue: -errno) }
        bytes = Array(buffer.prefix(Int(length)))
    }

    package var family: CInt { CInt(integer(at: 0, as: UInt16.self, isBigEndian: false)) }
    var port: UInt16 { integer(at: 2, as: UInt16.self) }
    var ipv4Host: UInt32 { integer(at: 4, as: UInt32.self) }
    var ipv6Host: (high: UInt64, low: UInt64) {
        (integer(at: 8, as: UInt64.self), integer(at: 16, as: UInt64.self))
    }
    var ipv6Scope: UInt32 { integer(at: 24, as: UInt32.self, isBigEndian: false) }

    /// The path of a Unix-domain socket; empty for an unnamed or abstract one.
    var unixPath: String {
        String(decoding: bytes.dropFirst(Self.pathStart).prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Passes the address to a system call.
    package func lend(to call: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        unsafe bytes.withUnsafeBytes { raw in
            guard let base = raw.baseAddress else { return -1 }
            return unsafe call(
                base.assumingMemoryBound(to: sockaddr.self),
                socklen_t(raw.count)
            )
        }
    }

    private static func family(_ number: CInt) -> [UInt8] {
        unsafe withUnsafeBytes(of: UInt16(number)) { unsafe Array($0) }
    }

    /// An integer of the address; zero if the kernel wrote fewer bytes.
    private func integer<Number: FixedWidthInteger>(
        at offset: Int,
        as type: Number.Type,
        isBigEndian: Bool = true
    ) -> Number {
        guard offset + MemoryLayout<Number>.size <= bytes.count else { return 0 }
        let number = unsafe bytes.withUnsafeBytes {
            unsafe $0.loadUnaligned(fromByteOffset: offset, as: Number.self)
        }
        return isBigEndian ? Number(bigEndian: number) : number
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] {
        unsafe withUnsafeBytes(of: bigEndian) { unsafe Array($0) }
    }
}
