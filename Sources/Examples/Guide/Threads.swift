import UVRunLoop

/// Starts a thread with a main routine of its own, which runs the thread's loop as it sees fit:
/// what `detachNewThreadSelector:` and `MPCreateTask` do in Apple's listings.
///
/// A `UVRunLoop.Thread` runs its loop by itself until it is told to stop. This one tells itself so
/// when its routine returns, and leaves be whatever its loop may still have to do.
func startThread(
    _ name: String,
    _ routine: @escaping @Sendable () -> Void
) throws -> UVRunLoop.Thread {
    try UVRunLoop.Thread(name: name) {
        routine()
        UVRunLoop.Thread.current?.stop(afterQueuedWork: false)
    }
}

/// Runs the calling thread's loop, one input source after the other, until something is the case.
///
/// Half a minute without any event is taken for a broken program, which should not wait for ever.
func runCurrentLoop(until isDone: () -> Bool) {
    let loop = UVRunLoop.current
    while !isDone() {
        let result = loop.run(mode: .default, for: .seconds(30), returnAfterSourceHandled: true)
        guard result == .handledSource else { return }
    }
}
