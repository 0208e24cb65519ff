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
        // `getaddrinfo` takes an empty one for port 0.
        guard let first = service.utf8.first else { return false }
        // It skips blanks and a sign before a number; no name begins with one.
        if service.utf8.contains(0) || Self.numberPrefixes.contains(first) { return false }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return !service.utf8.allSatisfy(digits.contains) || UInt16(service) != nil
    }

    private static let numberPrefixes = Array("+- \t\n\u{B}\u{C}\r".utf8)
}
