extension UVRunLoop {
    /// Why a perform request that a thread waits for was not performed.
    ///
    /// > Threading: Any thread.
    public enum PerformError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The loop's thread ended before it had performed the request, or before the date of a
        /// sleep.
        case threadEnded
        /// The request was cancelled before it began.
        case cancelled
        /// The limit of the wait has passed.
        ///
        /// A block that had not begun is withdrawn and never runs. One that had begun goes on, and
        /// its result is dropped.
        case timedOut(hasBegun: Bool)

        /// The error in one line.
        public var description: String {
            switch self {
            case .threadEnded: "the thread of the loop has ended"
            case .cancelled: "the request was cancelled"
            case .timedOut(false): "the time limit has passed, and the block has not begun"
            case .timedOut(true): "the time limit has passed while the block runs"
            }
        }
    }
}
