public import UVRunLoop

// Foundation's objects are equal when they are the same, and can be kept in sets.

extension UVRunLoop: Hashable {
    /// Whether two loops are the same.
    public static func == (left: UVRunLoop, right: UVRunLoop) -> Bool { left === right }

    /// Hashes the loop by its identity.
    ///
    /// - Parameter hasher: Takes what makes the loop different from others.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UVRunLoop.Timer: Hashable {
    /// Whether two timers are the same.
    public static func == (left: UVRunLoop.Timer, right: UVRunLoop.Timer) -> Bool { left === right }

    /// Hashes the timer by its identity.
    ///
    /// - Parameter hasher: Takes what makes the timer different from others.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UVRunLoop.Port: Hashable {
    /// Whether two ports are the same.
    public static func == (left: UVRunLoop.Port, right: UVRunLoop.Port) -> Bool { left === right }

    /// Hashes the port by its identity.
    ///
    /// - Parameter hasher: Takes what makes the port different from others.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
