import TestSupport
import UVRunLoop

// Each of these blocks the thread of the task that calls it, which a test may do.

/// Starts a thread that runs its loop; the call waits for the loop.
func startLoop() throws -> UVRunLoop.Thread { try UVRunLoop.Thread() }

/// Stops a thread and waits until it is gone.
func end(_ thread: UVRunLoop.Thread) {
    thread.stop()
    thread.join()
}

/// Waits until a thread is gone.
func join(_ thread: RunningThread) { thread.join() }
