import Synchronization

@testable import UVRunLoop

/// Counts how often threads wake one loop out of its sleeps, until it is stopped.
final class WakeCounter: LoopTracer {
    private let remote: any LoopRemote
    private let wakes = Atomic<Int>(0)

    init(_ loop: UVRunLoop) {
        remote = loop.remote
        LoopTracing.add(self)
    }

    var count: Int { wakes.load(ordering: .sequentiallyConsistent) }

    func stop() { LoopTracing.remove(self) }

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? { nil }

    func willWake(_ remote: any LoopRemote, at time: Int64) {
        if remote === self.remote { wakes.add(1, ordering: .sequentiallyConsistent) }
    }
}
