import Glibc
import Synchronization

/// Something that one thread waits for and another does.
package final class Signal: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package func send() { count.add(1, ordering: .releasing) }

    package var hasCome: Bool { count.load(ordering: .acquiring) > 0 }

    /// Waits for it; gives up after a time that only a hang explains.
    package func wait() {
        for _ in 0..<60_000 {
            if hasCome { return }
            usleep(1_000)
        }
        fatalError("A test hangs.")
    }
}
