extension UVRunLoop {
    /// What one thread sends another through a ``Port``.
    ///
    /// > Threading: Any thread.
    public struct PortMessage: Sendable {
        /// One part of a message.
        public enum Component: Sendable {
            /// Plain bytes.
            case bytes([UInt8])
            /// Anything that may go from thread to thread.
            case value(any Sendable)
        }

        /// What kind of message it is, by whatever numbers sender and receiver agreed on.
        public var id: Int32
        /// What it says.
        public var components: [Component]
        /// Where an answer may be sent to.
        public var replyPort: Port?

        /// Makes a message.
        ///
        /// - Parameters:
        ///   - id: What kind of message it is.
        ///   - components: What it says.
        ///   - replyPort: Where an answer may be sent to.
        public init(id: Int32 = 0, components: [Component] = [], replyPort: Port? = nil) {
            self.id = id
            self.components = components
            self.replyPort = replyPort
        }

        /// The bytes of the first component that is made of them.
        public var bytes: [UInt8]? {
            for case .bytes(let bytes) in components { return bytes }
            return nil
        }

        /// The first component that is a value of a type.
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
