extension UVRunLoop {
    /// A name for a collection of sources and timers to serve, and of observers to notify.
    ///
    /// A run is always in one mode and serves only the items of that mode. Modes are values: two
    /// with the same name are equal, and any string is a valid name. A name is kept until the
    /// process exits, so names should come from a limited set. A loop in which a mode is never used
    /// keeps nothing for it.
    ///
    /// See *Run Loop Modes* in Apple's guide.
    ///
    /// > Threading: Any thread.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// The number of the name, which the library uses in place of the string.
        let number: Int

        /// Creates the mode with a name.
        ///
        /// - Parameter rawValue: The name; any string is valid.
        public init(rawValue: String) {
            self.rawValue = rawValue
            number = ModeNames.number(of: rawValue)
        }

        /// Creates a mode whose number is a constant, without a lookup.
        private init(_ known: KnownMode) {
            rawValue = known.name
            number = known.rawValue
        }

        /// Creates the mode with a name.
        ///
        /// - Parameter name: The name; any string is valid.
        public init(_ name: String) {
            self.init(rawValue: name)
        }

        /// The mode for most work.
        public static var `default`: Mode { Mode(.default) }
        /// The name of the set of common modes, at first only ``default``; not a mode to run in.
        ///
        /// An item added to it is added to every mode of the set, and to modes that join the set
        /// later.
        public static var common: Mode { Mode(.common) }
        /// The mode for waiting for replies over a connection.
        public static var connectionReply: Mode { Mode(.connectionReply) }
        /// The mode while a modal dialogue is shown.
        public static var modalPanel: Mode { Mode(.modalPanel) }
        /// The mode while the user drags something.
        public static var eventTracking: Mode { Mode(.eventTracking) }

        /// Compares by name.
        public static func == (left: Mode, right: Mode) -> Bool { left.number == right.number }

        /// Hashes the mode.
        ///
        /// - Parameter hasher: The hasher to use.
        public func hash(into hasher: inout Hasher) { hasher.combine(number) }

        /// Whether it is ``common``.
        var isCommonName: Bool { number == KnownMode.common.rawValue }
    }
}

extension UVRunLoop.Mode: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}

extension UVRunLoop.Mode: CustomDebugStringConvertible {
    /// A word for a mode that the library names, such as `default`; the name of another mode.
    public var debugDescription: String { KnownMode(rawValue: number).map { "\($0)" } ?? rawValue }
}
