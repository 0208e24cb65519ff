extension UVRunLoop {
    /// Why a perform request that a thread waits for was not performed.
    ///
    /// > Threading: Any thread.
    public enum PerformError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The loop's thread ended before it had performed the request.
        case threadEnded
        /// The request was cancelled before it began.
        case cancelled

        /// The error in one line.
        public var description: String {
            switch self {
            case .threadEnded: "the thread ended before it had performed the request"
            case .cancelled: "the request was cancelled"
            }
        }
    }
}
