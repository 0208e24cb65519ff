extension UVRunLoop {
    /// Why a request was not performed although somebody waited for it.
    ///
    /// > Threading: Any thread.
    public enum PerformError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The loop's thread ended before the request was done.
        case threadEnded
        /// The request was cancelled before it began.
        case cancelled

        /// The trouble in one line.
        public var description: String {
            switch self {
            case .threadEnded: "the thread ended before it had performed the request"
            case .cancelled: "the request was cancelled"
            }
        }
    }
}
