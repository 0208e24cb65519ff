import UVRunLoop

/// What a resolver looks up.
struct ServiceName: Sendable {
    let host: String
    let service: String?
    let family: UVRunLoop.Resolver.Family?
    let transport: UVRunLoop.Resolver.Transport

    /// Whether the texts can be passed to C functions.
    var isValid: Bool {
        !host.utf8.contains(0) && service?.utf8.contains(0) != true
    }
}
