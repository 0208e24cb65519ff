import Foundation
import Synchronization
import UVRunLoop

/// The name of the calling thread, and the end of the line.
func currentThreadName() throws -> String {
    try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
}

/// Keeps the thread of a loop until it was told to stop, so that all that is queued now waits.
func keepUntilStopped(_ loop: UVRunLoop) {
    loop.perform { while !loop.isStopping { usleep(1_000) } }
}

/// Counts what happens on other threads.
final class Count: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .acquiring) }

    /// Adds one; returns the new count.
    @discardableResult
    func add() -> Int { number.add(1, ordering: .acquiringAndReleasing).newValue }

    func wait(for least: Int = 1) { while value < least { usleep(1_000) } }
}

/// A gate at which threads wait until it is opened.
final class Gate: Sendable {
    private let isOpen = Atomic(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func wait() { while !isOpen.load(ordering: .acquiring) { usleep(1_000) } }
}
