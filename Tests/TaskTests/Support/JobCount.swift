import Synchronization

@testable import UVRunLoop

/// Counts the jobs that a loop performs.
final class JobCount: LoopTracer, LoopTrack {
    private let loop: ObjectIdentifier
    private let count = Atomic<Int>(0)

    /// Counts from now on; a job that is being performed does not count.
    init(of loop: UVRunLoop) {
        self.loop = ObjectIdentifier(loop)
        LoopTracing.add(self)
    }

    /// The number of jobs that have been performed.
    var value: Int { count.load(ordering: .relaxed) }

    /// Ends the counting; returns the number of jobs.
    func end() -> Int {
        LoopTracing.remove(self)
        return value
    }

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? {
        ObjectIdentifier(loop) == self.loop ? self : nil
    }

    func record(_ event: LoopEvent) {
        guard case .called(let callout, _, _) = event, callout.kind == .job else { return }
        count.wrappingAdd(1, ordering: .relaxed)
    }
}
