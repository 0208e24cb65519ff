/// Traces the loops of the process.
package protocol LoopTracer: AnyObject, Sendable {
    /// Whether it traces what loops do, and not only what is likely to be a mistake; always the
    /// same. Without such a tracer, the loops keep up nothing and read no clock.
    var tracesWork: Bool { get }

    /// Begins to trace a loop; called on the loop's thread.
    ///
    /// - Returns: What is notified of the loop's events; `nil` if the tracer only reads the loop's
    ///   activity.
    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)?

    /// Called when a thread is about to wake a sleeping loop, and afterwards.
    func willWake(_ remote: any LoopRemote, at time: Int64)
    func didWake(_ remote: any LoopRemote, from began: Int64, until ended: Int64)

    /// Called on the loop's thread when the loop has ended.
    func loopDidEnd(_ loop: UVRunLoop)
}

extension LoopTracer {
    package var tracesWork: Bool { true }
    package func willWake(_ remote: any LoopRemote, at time: Int64) {}
    package func didWake(_ remote: any LoopRemote, from began: Int64, until ended: Int64) {}
    package func loopDidEnd(_ loop: UVRunLoop) {}
}

/// Is notified of the events of one loop, on the loop's thread, with no lock held.
package protocol LoopTrack: AnyObject, Sendable {
    func record(_ event: LoopEvent)
}
