extension UVRunLoop {
    /// A name for a collection of sources and timers to serve, and of observers to tell.
    ///
    /// A run is always in one mode and serves only what that mode holds. Modes are values: two
    /// with the same name are the same mode, and any string makes one. A name is remembered for as
    /// long as the process lives, so names should come from a limited set; a loop that never hears
    /// of a name keeps nothing for it.
    ///
    /// See *Run Loop Modes* in Apple's guide.
    ///
    /// > Threading: Any thread.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// Stands for the name inside the library, where nothing is looked up by strings.
        let number: Int

        /// Makes the mode of a name.
        ///
        /// - Parameter rawValue: The name; any string will do.
        public init(rawValue: String) {
            self.rawValue = rawValue
            number = ModeNames.number(of: rawValue)
        }

        /// Makes the mode of a name.
        ///
        /// - Parameter name: The name; any string will do.
        public init(_ name: String) {
            self.init(rawValue: name)
        }

        /// The mode for most work.
        public static let `default` = Mode(rawValue: "kCFRunLoopDefaultMode")
        /// Not a mode to run in but a name for the set of common modes, at first only ``default``.
        ///
        /// What is added to it is added to every mode of the set, and to modes that join the set
        /// later.
        public static let common = Mode(rawValue: commonName)
        /// For waiting for replies over a connection.
        public static let connectionReply = Mode(rawValue: "NSConnectionReplyMode")
        /// For the time in which one dialogue has the user's whole attention.
        public static let modalPanel = Mode(rawValue: "NSModalPanelRunLoopMode")
        /// For the time in which the user drags something.
        public static let eventTracking = Mode(rawValue: "NSEventTrackingRunLoopMode")

        /// Compares by name.
        public static func == (left: Mode, right: Mode) -> Bool { left.number == right.number }

        /// Hashes the mode.
        ///
        /// - Parameter hasher: Takes what makes the mode different from others.
        public func hash(into hasher: inout Hasher) { hasher.combine(number) }

        private static let commonName = "kCFRunLoopCommonModes"
        private static let commonNumber = ModeNames.number(of: commonName)

        /// Whether it is ``common``, without a look at that.
        var isCommonName: Bool { number == Self.commonNumber }
    }
}

extension UVRunLoop.Mode: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}
