public import UVRunLoop

// As in Foundation, objects are equal if they are identical, and can be members of a set.

extension UVRunLoop: Hashable {
    /// Whether two loops are the same.
    public static func == (left: UVRunLoop, right: UVRunLoop) -> Bool { left === right }

    /// Hashes the loop by its identity.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UVRunLoop.Timer: Hashable {
    /// Whether two timers are the same.
    public static func == (left: UVRunLoop.Timer, right: UVRunLoop.Timer) -> Bool { left === right }

    /// Hashes the timer by its identity.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UVRunLoop.Port: Hashable {
    /// Whether two ports are the same.
    public static func == (left: UVRunLoop.Port, right: UVRunLoop.Port) -> Bool { left === right }

    /// Hashes the port by its identity.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
