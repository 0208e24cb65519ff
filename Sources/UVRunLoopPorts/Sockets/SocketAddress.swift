import UVRunLoop

extension UVRunLoop {
    /// The address of a stream socket: a host and a port, or a path.
    ///
    /// Hosts are numeric. Names, including `localhost`, are not resolved, because that would block
    /// the loop's thread.
    ///
    /// > Threading: Any thread.
    public enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
        /// An IPv4 address and a port.
        case ipv4(IPv4Host, port: UInt16)
        /// An IPv6 address and a port.
        case ipv6(IPv6Host, port: UInt16)
        /// A path in the file system; empty for an unnamed socket, such as a connecting one.
        case unix(String)

        /// Parses a numeric host.
        ///
        /// - Parameters:
        ///   - host: A host such as `127.0.0.1`, `::1` or `fe80::1%eth0`.
        ///   - port: The port; 0 lets the system choose one for a listener.
        /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress`` for any other text.
        public init(host: String, port: UInt16) throws(SocketError) {
            if let host = IPv4Host(host) {
                self = .ipv4(host, port: port)
            } else if let host = IPv6Host(host) {
                self = .ipv6(host, port: port)
            } else {
                throw SocketError(.invalidAddress)
            }
        }

        /// Makes the address of a Unix-domain socket.
        ///
        /// - Parameter unixPath: A path of 1 to 107 bytes of UTF-8.
        /// - Throws: ``SocketError`` with ``SocketError/Code/pathTooLong``, or with
        ///   ``SocketError/Code/invalidAddress`` for a path that is empty or contains a zero byte.
        public init(unixPath: String) throws(SocketError) {
            self = .unix(unixPath)
            _ = try raw
        }

        /// The IPv4 loopback address: 127.0.0.1.
        ///
        /// - Parameter port: The port; 0 lets the system choose one for a listener.
        /// - Returns: The address.
        public static func ipv4Loopback(port: UInt16) -> SocketAddress {
            .ipv4(.loopback, port: port)
        }

        /// The IPv4 wildcard address, for all addresses of this machine: 0.0.0.0.
        ///
        /// - Parameter port: The port; 0 lets the system choose one for a listener.
        /// - Returns: The address.
        public static func ipv4Wildcard(port: UInt16) -> SocketAddress {
            .ipv4(.wildcard, port: port)
        }

        /// The IPv6 loopback address: `::1`.
        ///
        /// - Parameter port: The port; 0 lets the system choose one for a listener.
        /// - Returns: The address.
        public static func ipv6Loopback(port: UInt16) -> SocketAddress {
            .ipv6(.loopback, port: port)
        }

        /// The IPv6 wildcard address, for all addresses of this machine: `::`.
        ///
        /// - Parameter port: The port; 0 lets the system choose one for a listener.
        /// - Returns: The address.
        public static func ipv6Wildcard(port: UInt16) -> SocketAddress {
            .ipv6(.wildcard, port: port)
        }

        /// The port; `nil` for a path.
        public var port: UInt16? {
            switch self {
            case .ipv4(_, let port), .ipv6(_, let port): port
            case .unix: nil
            }
        }

        /// The address as text: `127.0.0.1:80`, `[::1]:80`, or the path.
        public var description: String {
            switch self {
            case .ipv4(let host, let port): "\(host):\(port)"
            case .ipv6(let host, let port): "[\(host)]:\(port)"
            case .unix(let path): path
            }
        }
    }
}

extension UVRunLoop.SocketAddress {
    var family: CInt {
        switch self {
        case .ipv4: AddressFamily.ipv4
        case .ipv6: AddressFamily.ipv6
        case .unix: AddressFamily.unix
        }
    }

    var isTCP: Bool { port != nil }

    /// The address as a `sockaddr`.
    package var raw: RawAddress {
        get throws(UVRunLoop.SocketError) {
            switch self {
            case .ipv4(let host, let port):
                return RawAddress(ipv4: host.number, port: port)
            case .ipv6(let host, let port):
                return RawAddress(ipv6: (host.high, host.low), scope: host.scope, port: port)
            case .unix(let path):
                if let raw = RawAddress(unixPath: path) { return raw }
                let isLong = path.utf8.count > RawAddress.longestPath
                throw UVRunLoop.SocketError(isLong ? .pathTooLong : .invalidAddress)
            }
        }
    }

    /// Converts a `sockaddr`; `nil` for another family.
    package init?(_ raw: RawAddress) {
        switch raw.family {
        case AddressFamily.ipv4:
            self = .ipv4(UVRunLoop.IPv4Host(raw.ipv4Host), port: raw.port)
        case AddressFamily.ipv6:
            let (high, low) = raw.ipv6Host
            let host = UVRunLoop.IPv6Host(high: high, low: low, scope: raw.ipv6Scope)
            self = .ipv6(host, port: raw.port)
        case AddressFamily.unix:
            self = .unix(raw.unixPath)
        default:
            return nil
        }
    }
}
