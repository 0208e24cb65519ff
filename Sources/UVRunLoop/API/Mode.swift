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

        /// Creates the mode with a name.
        ///
        /// - Parameter name: The name; any string is valid.
        public init(_ name: String) {
            self.init(rawValue: name)
        }

        /// The mode for most work.
        public static let `default` = Mode(rawValue: "kCFRunLoopDefaultMode")
        /// The name of the set of common modes, at first only ``default``; not a mode to run in.
        ///
        /// An item added to it is added to every mode of the set, and to modes that join the set
        /// later.
        public static let common = Mode(rawValue: commonName)
        /// The mode for waiting for replies over a connection.
        public static let connectionReply = Mode(rawValue: "NSConnectionReplyMode")
        /// The mode while a modal dialogue is shown.
        public static let modalPanel = Mode(rawValue: "NSModalPanelRunLoopMode")
        /// The mode while the user drags something.
        public static let eventTracking = Mode(rawValue: "NSEventTrackingRunLoopMode")

        /// Compares by name.
        public static func == (left: Mode, right: Mode) -> Bool { left.number == right.number }

        /// Hashes the mode.
        ///
        /// - Parameter hasher: The hasher to use.
        public func hash(into hasher: inout Hasher) { hasher.combine(number) }

        private static let commonName = "kCFRunLoopCommonModes"
        private static let commonNumber = ModeNames.number(of: commonName)

        /// Whether it is ``common``; compares numbers without creating that.
        var isCommonName: Bool { number == Self.commonNumber }
    }
}

extension UVRunLoop.Mode: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}
