internal import UVLibc

/// Conversions between hosts and their numeric text; names are not resolved.
enum NumericHost {
    /// Parses an IPv4 host into the number of its bytes in network order.
    static func parse(ipv4 text: String) -> UInt32? {
        bytes(of: text, family: AF_INET, count: 4).map(number)
    }

    static func parse(ipv6 text: String) -> (high: UInt64, low: UInt64)? {
        guard let bytes = bytes(of: text, family: AF_INET6, count: 16) else { return nil }
        return (number(bytes.prefix(8)), number(bytes.suffix(8)))
    }

    /// The index of a network interface, from its number or name.
    static func parse(scope text: String) -> UInt32? {
        // `UInt32` would take a sign, too.
        if text.first != "+", text.first != "-", let number = UInt32(text) { return number }
        guard !text.utf8.contains(0) else { return nil }
        let index = unsafe if_nametoindex(text)
        return index > 0 ? index : nil
    }

    static func text(ipv4 host: UInt32) -> String {
        text(of: bytes(of: host), family: AF_INET)
    }

    static func text(ipv6 host: (high: UInt64, low: UInt64)) -> String {
        text(of: bytes(of: host.high) + bytes(of: host.low), family: AF_INET6)
    }

    private static func bytes(of text: String, family: CInt, count: Int) -> ArraySlice<UInt8>? {
        var bytes = [UInt8](repeating: 0, count: count)
        guard !text.utf8.contains(0), unsafe inet_pton(family, text, &bytes) == 1 else {
            return nil
        }
        return bytes[...]
    }

    private static func text(of bytes: [UInt8], family: CInt) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let length = socklen_t(buffer.count)
            guard let text = unsafe inet_ntop(family, bytes, buffer.baseAddress, length) else {
                return ""
            }
            return unsafe String(cString: text)
        }
    }

    private static func number<Number: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>) -> Number {
        bytes.reduce(0) { $0 << 8 | Number($1) }
    }

    private static func bytes<Number: FixedWidthInteger>(of number: Number) -> [UInt8] {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
    }
}
