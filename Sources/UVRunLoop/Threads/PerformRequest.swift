extension UVRunLoop {
    /// A request that was made of a loop, for whoever may want to cancel it.
    ///
    /// It can be let go at any time; the request goes on waiting.
    ///
    /// > Threading: Any thread.
    public struct PerformRequest: Sendable {
        private let loop: UVRunLoop
        private let ticket: Ticket

        init(_ ticket: Ticket?, in loop: UVRunLoop) {
            self.loop = loop
            self.ticket = ticket ?? .none
        }

        /// Whether the request still waits: it has not begun, and was neither cancelled nor
        /// dropped with its thread.
        ///
        /// > Threading: Any thread.
        public var isPending: Bool { loop.holdsRequest(ticket) }

        /// Cancels the request, and releases its block and its target.
        ///
        /// One that has begun goes on.
        ///
        /// > Threading: Any thread.
        ///
        /// - Returns: Whether the request was withdrawn before it began; `false` when it had begun
        ///   or there was nothing to cancel any more.
        @discardableResult
        public func cancel() -> Bool { loop.cancelRequests([ticket]) > 0 }
    }
}
