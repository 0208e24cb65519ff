import UVRunLoop

/// The host and the service that a resolver looks up.
struct ServiceName: Sendable {
    let host: String
    let service: String?
    let family: UVRunLoop.Resolver.Family?
    let transport: UVRunLoop.Resolver.Transport

    /// Whether the texts can be passed to C functions, and the service is no number beyond those of
    /// ports, of which `getaddrinfo` would take the lowest 16 bits.
    var isValid: Bool {
        guard !host.utf8.contains(0) else { return false }
        guard let service else { return true }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let isNumber = !service.isEmpty && service.utf8.allSatisfy(digits.contains)
        return !service.utf8.contains(0) && (!isNumber || UInt16(service) != nil)
    }
}
