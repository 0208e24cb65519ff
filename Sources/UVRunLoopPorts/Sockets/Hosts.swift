import UVRunLoop

extension UVRunLoop {
    /// A host of the Internet Protocol, version 4.
    ///
    /// > Threading: Any thread.
    public struct IPv4Host: Hashable, Sendable, LosslessStringConvertible {
        /// The four parts as one number, the first part highest.
        public let number: UInt32

        /// Makes a host of its number.
        ///
        /// - Parameter number: The four parts as one number, the first part highest.
        public init(_ number: UInt32) {
            self.number = number
        }

        /// Reads a host such as `127.0.0.1`; `nil` for any other text.
        ///
        /// - Parameter description: Four numbers with points between.
        public init?(_ description: String) {
            guard let number = NumericHost.parse(ipv4: description) else { return nil }
            self.number = number
        }

        /// The host as it is written.
        public var description: String { NumericHost.text(ipv4: number) }

        /// This machine as only it sees itself: 127.0.0.1.
        public static let loopback = IPv4Host(0x7F00_0001)
        /// Every address of this machine: 0.0.0.0.
        public static let wildcard = IPv4Host(0)
    }

    /// A host of the Internet Protocol, version 6.
    ///
    /// > Threading: Any thread.
    public struct IPv6Host: Hashable, Sendable, LosslessStringConvertible {
        /// The first four parts as one number, the first part highest.
        public let high: UInt64
        /// The last four parts as one number, the last part lowest.
        public let low: UInt64
        /// The number of the network interface that a link-local host is reached by; 0 for others.
        public let scope: UInt32

        /// Makes a host of its numbers.
        ///
        /// - Parameters:
        ///   - high: The first four parts as one number, the first part highest.
        ///   - low: The last four parts as one number, the last part lowest.
        ///   - scope: The number of the network interface that a link-local host is reached by.
        public init(high: UInt64, low: UInt64, scope: UInt32 = 0) {
            self.high = high
            self.low = low
            self.scope = scope
        }

        /// Reads a host such as `::1` or `fe80::1%eth0`; `nil` for any other text.
        ///
        /// - Parameter description: The host, and behind a percent sign the network interface, by
        ///   its name or number.
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

        /// The host as it is written, with the number of its network interface if it has one.
        public var description: String {
            let host = NumericHost.text(ipv6: (high, low))
            return scope == 0 ? host : "\(host)%\(scope)"
        }

        /// This machine as only it sees itself: `::1`.
        public static let loopback = IPv6Host(high: 0, low: 1)
        /// Every address of this machine: `::`.
        public static let wildcard = IPv6Host(high: 0, low: 0)
    }
}
