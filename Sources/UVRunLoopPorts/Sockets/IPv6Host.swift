import UVRunLoop

extension UVRunLoop {
    /// An IPv6 address.
    ///
    /// > Threading: Any thread.
    public struct IPv6Host: Hashable, Sendable, LosslessStringConvertible {
        /// The first four groups as one number, the first group highest.
        public let high: UInt64
        /// The last four groups as one number, the last group lowest.
        public let low: UInt64
        /// The index of the network interface of a link-local address; 0 for others.
        public let scope: UInt32

        /// Makes an address from its numbers.
        ///
        /// - Parameters:
        ///   - high: The first four groups as one number, the first group highest.
        ///   - low: The last four groups as one number, the last group lowest.
        ///   - scope: The index of the network interface of a link-local address.
        public init(high: UInt64, low: UInt64, scope: UInt32 = 0) {
            self.high = high
            self.low = low
            self.scope = scope
        }

        /// Parses an address such as `::1` or `fe80::1%eth0`; `nil` for any other text.
        ///
        /// - Parameter description: The address, optionally followed by a percent sign and the name
        ///   or index of a network interface.
        public init?(_ description: String) {
            let parts = description.split(
                separator: "%",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard let text = parts.first, let host = NumericHost.parse(ipv6: String(text)) else {
                return nil
            }
            var scope: UInt32 = 0
            if parts.count > 1 {
                guard let number = NumericHost.parse(scope: String(parts[1])) else { return nil }
                scope = number
            }
            self.init(high: host.high, low: host.low, scope: scope)
        }

        /// The address as text, with the index of its network interface if it has one.
        public var description: String {
            let host = NumericHost.text(ipv6: (high, low))
            return scope == 0 ? host : "\(host)%\(scope)"
        }

        /// The loopback address: `::1`.
        public static let loopback = IPv6Host(high: 0, low: 1)
        /// The wildcard address, which stands for all addresses of this machine: `::`.
        public static let wildcard = IPv6Host(high: 0, low: 0)
    }
}
