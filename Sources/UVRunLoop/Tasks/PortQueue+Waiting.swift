extension PortQueue {
    /// Waits for a message; returns `nil` at the end of the port, or if the task was cancelled.
    func next(in loop: UVRunLoop?, isolation: isolated (any Actor)?) async -> Message? {
        while true {
            if let message = takeMessage() { return message }
            // From here on, the next message is announced to the loop.
            if hasMore() { continue }
            let arrival: Void? = await arrivals.next(on: loop, isolation: isolation) {}
            if arrival == nil { return nil }
        }
    }
}
