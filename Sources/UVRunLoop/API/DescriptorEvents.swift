extension UVRunLoop {
    /// The conditions of a descriptor that a source can wait for.
    ///
    /// > Threading: Any thread.
    public struct DescriptorEvents: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes a set of raw bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// There is something to read, or the other side sends no more and a read says so.
        public static let readable = DescriptorEvents(rawValue: 1)
        /// There is room to write.
        public static let writable = DescriptorEvents(rawValue: 2)
        /// The other side is gone, or the descriptor is in error.
        ///
        /// It comes whether it was asked for or not, because the kernel cannot be told to keep
        /// it; once, together with every event that was asked for, and not before everything
        /// was read.
        public static let hangUp = DescriptorEvents(rawValue: 4)
    }
}
