import UVRunLoop

extension UVRunLoop {
    /// An IPv4 address.
    ///
    /// > Threading: Any thread.
    public struct IPv4Host: Hashable, Sendable, LosslessStringConvertible {
        /// The four octets as one number, the first octet highest.
        public let number: UInt32

        /// Makes an address from its number.
        ///
        /// - Parameter number: The four octets as one number, the first octet highest.
        public init(_ number: UInt32) {
            self.number = number
        }

        /// Parses an address such as `127.0.0.1`; `nil` for any other text.
        ///
        /// - Parameter description: Four numbers separated by dots.
        public init?(_ description: String) {
            guard let number = NumericHost.parse(ipv4: description) else { return nil }
            self.number = number
        }

        /// The address as text.
        public var description: String { NumericHost.text(ipv4: number) }

        /// The loopback address: 127.0.0.1.
        public static let loopback = IPv4Host(0x7F00_0001)
        /// The wildcard address, which stands for all addresses of this machine: 0.0.0.0.
        public static let wildcard = IPv4Host(0)
    }
}
