import UVRunLoop

/// Starts a thread with a main routine of its own, which runs the thread's loop itself, as
/// `detachNewThreadSelector:` and `MPCreateTask` do in Apple's listings.
///
/// A `UVRunLoop.Thread` runs its loop until it is told to stop. This one stops when its routine
/// returns, whatever its loop still has to do.
func startThread(
    _ name: String,
    _ routine: @escaping @Sendable () -> Void
) throws -> UVRunLoop.Thread {
    try UVRunLoop.Thread(name: name) {
        routine()
        UVRunLoop.Thread.current?.stop(afterQueuedWork: false)
    }
}

/// Runs the calling thread's loop, one input source after the other, until a condition holds.
///
/// Half a minute without an event means that the program is broken.
func runCurrentLoop(until isDone: () -> Bool) {
    let loop = UVRunLoop.current
    while !isDone() {
        let result = loop.run(mode: .default, for: .seconds(30), returnAfterSourceHandled: true)
        guard result == .handledSource else { return }
    }
}
