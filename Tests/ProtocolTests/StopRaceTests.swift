import Glibc
import Synchronization
import TestSupport
import Testing

@testable import UVRunLoop

/// Stops from another thread while runs begin and end: each ends one run, never none.
///
/// One test at a time: the two threads of each must run at the same time for a stop to come
/// between.
@Suite(.serialized, .timeLimit(.minutes(15))) struct StopRaceTests {
    @Test func aStopBesideANestedRunEndsThatRunOrTheOuterOne() {
        let runs = RunState()
        let course = Course()
        let thread = startThread {
            _ = runs.begin(isNested: false)
            while !course.isOver {
                let outer = runs.begin(isNested: true)
                if runs.end(restoring: outer) { course.noteEndOfRun() }
                if runs.isStopped {
                    // The outer run ends, and another one begins.
                    if runs.end(restoring: .idle) { course.noteEndOfRun() }
                    _ = runs.begin(isNested: false)
                }
                course.noteRound()
            }
        }
        let lost = course.countLostStops(among: 40_000) { _ = runs.stop() }
        thread.join()
        #expect(lost == 0)
    }

    @Test func aStopOfALoopWhoseSourceRunsItAgainEndsOneOfTheRuns() {
        let course = Course()
        let loop = Guarded<UVRunLoop?>(nil)
        let thread = startThread {
            let current = UVRunLoop.current
            let nested = UVRunLoop.Mode(rawValue: "nested")
            current.add(UVRunLoop.Source { _ in }, forMode: nested)
            let source = UVRunLoop.Source { source in
                // A run without a limit, because a stop between two runs is rightly nothing.
                if course.isOver { current.stop() } else { source.signal() }
                if current.run(mode: nested, for: .zero) == .stopped { course.noteEndOfRun() }
                course.noteRound()
            }
            current.add(source, forMode: .default)
            source.signal()
            loop.withLock { $0 = current }
            while !course.isOver {
                if current.run(for: nil) == .stopped { course.noteEndOfRun() }
            }
        }
        course.awaitRounds(1)
        let runLoop = loop.withLock { $0 }
        let lost = course.countLostStops(among: 10_000) { runLoop?.stop() }
        thread.join()
        #expect(lost == 0)
    }
}

/// The messages between the thread with the runs and the thread that stops them.
private final class Course: Sendable {
    private let rounds = Atomic<Int>(0)
    private let ends = Atomic<Int>(0)
    private let over = Atomic<Bool>(false)

    var isOver: Bool { over.load(ordering: .acquiring) }

    func noteEndOfRun() { ends.add(1, ordering: .acquiringAndReleasing) }

    func noteRound() {
        // On one core the other thread would else wait for the end of this one's time slice.
        if rounds.add(1, ordering: .acquiringAndReleasing).newValue % 16 == 0 { sched_yield() }
    }

    func awaitRounds(_ count: Int) {
        let end = rounds.load(ordering: .acquiring) + count
        var patience = 1_000
        while rounds.load(ordering: .acquiring) < end {
            patience -= 1
            if patience < 0 { sched_yield() }
        }
    }

    /// Stops again and again, each time when an outer run is on and the stop before is done with.
    ///
    /// - Returns: How many stops ended no run, of this round or the next.
    func countLostStops(among count: Int, stop: () -> Void) -> Int {
        var lost = 0
        for number in 0..<count {
            let before = ends.load(ordering: .acquiring)
            // An outer run that was stopped has a successor once another round is through.
            awaitRounds(1)
            for _ in 0..<(number % 61) { _ = rounds.load(ordering: .relaxed) }
            stop()
            let end = rounds.load(ordering: .acquiring) + 3
            var patience = 1_000
            while ends.load(ordering: .acquiring) == before {
                guard rounds.load(ordering: .acquiring) >= end else {
                    // On one core the other thread has to come first.
                    patience -= 1
                    if patience < 0 { sched_yield() }
                    continue
                }
                if ends.load(ordering: .acquiring) == before { lost += 1 }
                break
            }
        }
        over.store(true, ordering: .releasing)
        return lost
    }
}
