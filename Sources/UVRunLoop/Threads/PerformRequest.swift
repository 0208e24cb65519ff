extension UVRunLoop {
    /// A perform request, which can be cancelled.
    ///
    /// Releasing this value does not cancel the request.
    ///
    /// > Threading: Any thread.
    public struct PerformRequest: Sendable {
        private let loop: UVRunLoop
        private let ticket: Ticket

        init(_ ticket: Ticket?, in loop: UVRunLoop) {
            self.loop = loop
            self.ticket = ticket ?? .none
        }

        /// Whether the request is still waiting: it has not begun, was not cancelled, and its
        /// thread has not ended.
        ///
        /// > Threading: Any thread.
        public var isPending: Bool { loop.holdsRequest(ticket) }

        /// Cancels the request, and releases its block and its target.
        ///
        /// A request that has begun is not interrupted.
        ///
        /// > Threading: Any thread.
        ///
        /// - Returns: Whether the request was cancelled before it began; `false` if it had begun or
        ///   was no longer waiting.
        @discardableResult
        public func cancel() -> Bool { loop.cancelRequests([ticket]) > 0 }
    }
}

extension UVRunLoop.PerformRequest: CustomStringConvertible {
    /// Whether the request is still waiting, in one line.
    ///
    /// > Threading: Any thread.
    public var description: String { "PerformRequest: \(stage)" }

    private var stage: String {
        guard loop.identity.isThisProcess else { return "of the process that forked this one" }
        return isPending ? "pending" : "not pending"
    }
}
