import CUV
import UVRunLoop
import UVRunLoopPorts

/// A multicast group and the network interface of a membership, as libuv takes them.
///
/// Of an interface for IPv6, libuv looks at the name behind a percent sign alone; without one, the
/// system would choose.
struct MulticastMembership {
    private typealias IPv6Host = UVRunLoop.IPv6Host

    let group: String
    let interface: String?

    /// Finds the interface.
    ///
    /// - Parameters:
    ///   - group: The numeric address of the group.
    ///   - interface: The numeric address of the interface; `nil` for the group's scope or, without
    ///     one, the system's choice.
    /// - Throws: An error if a text is no address for IPv6, or there is no such interface.
    init(_ group: String, on interface: String?) throws(UVError) {
        guard group.utf8.contains(UInt8(ascii: ":")) else {
            (self.group, self.interface) = (group, interface)
            return
        }
        guard let host = IPv6Host(group) else { throw .invalidArgument }
        self.group = IPv6Host(high: host.high, low: host.low).description
        let ofGroup = try Self.name(ofScope: host.scope)
        let name = if let interface { try Self.name(of: interface) ?? ofGroup } else { ofGroup }
        if ofGroup != nil, name != ofGroup { throw .invalidArgument }
        self.interface = name.map { "::%\($0)" }
    }

    /// The name of the interface that a text stands for; `nil` for the system's choice.
    private static func name(of interface: String) throws(UVError) -> String? {
        guard let host = IPv6Host(interface) else { throw .invalidArgument }
        if host == .wildcard { return nil }
        if let name = try name(ofScope: host.scope) { return name }
        return try name(ofAddress: host)
    }

    /// The name of the interface with an index; `nil` for the index 0.
    private static func name(ofScope scope: UInt32) throws(UVError) -> String? {
        guard scope != 0 else { return nil }
        var name = [CChar](repeating: 0, count: Int(UV_IF_NAMESIZE))
        var size = name.count
        try accepted(unsafe uv_if_indextoname(scope, &name, &size))
        return String(decoding: name.prefix(size).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The name of the first interface that has an address.
    private static func name(ofAddress host: IPv6Host) throws(UVError) -> String {
        var list: UnsafeMutablePointer<uv_interface_address_t>?
        var count: CInt = 0
        try accepted(unsafe uv_interface_addresses(&list, &count))
        defer { unsafe uv_free_interface_addresses(list, count) }
        let interfaces = unsafe UnsafeBufferPointer(start: list, count: Int(count))
        for index in interfaces.indices {
            let raw = unsafe withUnsafeBytes(of: interfaces[index].address) { unsafe Array($0) }
            guard case .ipv6(let own, _) = UVRunLoop.SocketAddress(RawAddress(bytes: raw)),
                own.high == host.high, own.low == host.low
            else { continue }
            return unsafe String(cString: interfaces[index].name)
        }
        throw UVError(rawValue: UV_ENODEV.rawValue)
    }
}
