extension PortQueue {
    /// Waits for a message; returns `nil` at the end of the port, or if the task was cancelled.
    ///
    /// On the loop's thread the task is a job, which must not go on for as long as somebody sends:
    /// before another batch, the loop has its turn.
    func next(in loop: UVRunLoop?, isolation: isolated (any Actor)?) async -> Message? {
        var mayRefill = loop?.isOnOwnThread != true
        while !Task.isCancelled {
            if let message = takeMessage(mayRefill: mayRefill) { return message }
            // From here on, the next message is announced to the loop.
            if hasMoreOrRearms() {
                if !mayRefill { await loop?.goOnBefore(isolation: isolation) }
            } else {
                let arrival: Void? = await arrivals.next(on: loop, isolation: isolation) {}
                if arrival == nil { return nil }
            }
            mayRefill = true
        }
        return nil
    }
}
