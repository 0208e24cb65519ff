import BenchSupport
import UVRunLoop

/// A run loop that runs on a thread of its own and is never empty.
final class ServedLoop: Sendable {
    private let thread: UVRunLoop.Thread
    private let far = UVRunLoop.Timer(after: .seconds(3_600), sendableHandler: { _ in })

    init() {
        guard let thread = try? UVRunLoop.Thread() else { fail("No thread was left.") }
        self.thread = thread
        loop.add(far, forMode: .default)
    }

    var loop: UVRunLoop { thread.runLoop }

    /// Waits until blocks that were handed over before are done.
    func drain() {
        let latch = Latch()
        loop.perform { latch.open() }
        latch.wait()
    }

    func end() {
        thread.stop()
        thread.join()
    }
}
