extension UVRunLoop {
    /// The events of a descriptor that a source can wait for.
    ///
    /// > Threading: Any thread.
    public struct DescriptorEvents: OptionSet, Hashable, Sendable {
        /// The raw bits.
        public let rawValue: UInt8

        /// Creates a set from raw bits.
        ///
        /// - Parameter rawValue: The raw bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// There is data to read, or the end of the data.
        public static let readable = DescriptorEvents(rawValue: 1)
        /// There is room to write.
        public static let writable = DescriptorEvents(rawValue: 2)
        /// The peer is gone, or the descriptor has an error.
        ///
        /// Delivered whether it was asked for or not, because the kernel cannot mask it. It is
        /// delivered once, together with every event that was asked for, and to a source that asks
        /// for ``readable`` not before all data was read. After that the source gets no events,
        /// until it is added to one of its modes once more. If the hang-up lasts, it is delivered
        /// again then, and at once: that of a FIFO lasts until its next writer has opened it.
        ///
        /// If the kernel refuses to watch the descriptor, a hang-up is delivered, too, although
        /// there may be data: the source is invalid then.
        public static let hangUp = DescriptorEvents(rawValue: 4)
    }
}

extension UVRunLoop.DescriptorEvents: CustomStringConvertible {
    /// The name of the event; the names of several in brackets.
    public var description: String {
        let names: [(event: Self, name: String)] = [
            (.readable, "readable"), (.writable, "writable"), (.hangUp, "hangUp"),
        ]
        return names.filter { contains($0.event) }.map(\.name).setDescription
    }
}
