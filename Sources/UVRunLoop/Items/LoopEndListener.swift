/// Waits for a timer, of which it is the ``UVRunLoop/Timer/companion``, and is notified if the
/// timer's loop ends first.
///
/// > Threading: Called on the loop's thread, while no lock is held.
protocol LoopEndListener: AnyObject, Sendable {
    func loopDidEnd()
}

extension UVRunLoop.Timer {
    /// Tells what waits for the timer that the loop has ended.
    func loopDidEnd() {
        if let companion { (companion as? any LoopEndListener)?.loopDidEnd() }
    }
}
