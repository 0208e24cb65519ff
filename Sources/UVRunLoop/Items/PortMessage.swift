extension UVRunLoop {
    /// A message that one thread sends to another through a ``Port``.
    ///
    /// > Threading: Any thread.
    public struct PortMessage: Sendable {
        /// One part of a message.
        public enum Component: Sendable {
            /// Plain bytes.
            case bytes([UInt8])
            /// A `Sendable` value.
            case value(any Sendable)
        }

        /// The kind of message, a number that sender and receiver agree on.
        public var id: Int32
        /// The contents.
        public var components: [Component]
        /// The port for replies.
        public var replyPort: Port?

        /// Creates a message.
        ///
        /// - Parameters:
        ///   - id: The kind of message.
        ///   - components: The contents.
        ///   - replyPort: The port for replies.
        public init(id: Int32 = 0, components: [Component] = [], replyPort: Port? = nil) {
            self.id = id
            self.components = components
            self.replyPort = replyPort
        }

        /// The bytes of the first component that consists of bytes.
        public var bytes: [UInt8]? {
            for case .bytes(let bytes) in components { return bytes }
            return nil
        }

        /// Returns the first component that is a value of a type.
        ///
        /// - Parameter type: The type.
        /// - Returns: The value, if there is one.
        public func value<Value>(as type: Value.Type = Value.self) -> Value? {
            for case .value(let value) in components {
                if let value = value as? Value { return value }
            }
            return nil
        }
    }
}
