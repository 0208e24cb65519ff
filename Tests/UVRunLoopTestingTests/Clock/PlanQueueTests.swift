import TestSupport
import Testing

@testable import UVRunLoopTesting

/// The order in which plans are carried out.
@Suite(.timeLimit(.minutes(15))) struct PlanQueueTests {
    private let log = EventLog()

    private func takeFirst(of queue: inout PlanQueue, until date: Int64) -> Bool {
        guard let plan = queue.takeFirst(until: date) else { return false }
        plan.action()
        return true
    }

    @Test func plansOfOneDateKeepTheirOrder() {
        var queue = PlanQueue()
        for (number, date) in [5, 3, 5, 3, 4].enumerated() {
            queue.insert(at: Int64(date)) { [log] in log.note("\(number)") }
        }
        #expect(queue.soonest == 3)
        while takeFirst(of: &queue, until: 5) {}
        #expect(log.entries == ["1", "3", "4", "0", "2"])
        #expect(queue.soonest == nil)
    }

    @Test func aPlanIsNotTakenBeforeItsDate() {
        var queue = PlanQueue()
        queue.insert(at: 7) { [log] in log.note("seven") }
        #expect(!takeFirst(of: &queue, until: 6))
        #expect(takeFirst(of: &queue, until: 7))
        #expect(log.entries == ["seven"])
    }

    /// What it captures may be awaited.
    @Test func aPlanThatWasCarriedOutIsReleased() {
        var queue = PlanQueue()
        for number in 0..<2 {
            let end = Farewell { [log] in log.note("\(number)") }
            queue.insert(at: Int64(number)) { withExtendedLifetime(end) {} }
        }
        #expect(takeFirst(of: &queue, until: 0))
        #expect(log.entries == ["0"])
    }

    /// Plans that were carried out leave no gap.
    @Test func insertionsBetweenTakingsComeInOrder() {
        var generator = SeededGenerator(seed: 1)
        var queue = PlanQueue()
        var expected: [(date: Int64, number: Int)] = []
        for number in 0..<2_000 {
            let date = Int64.random(in: 0..<50, using: &generator)
            queue.insert(at: date) { [log] in log.note("\(number)") }
            expected.append((date, number))
            guard Bool.random(using: &generator) else { continue }
            let first = expected.indices.min { expected[$0] < expected[$1] }
            guard let first else { continue }
            #expect(takeFirst(of: &queue, until: .max))
            #expect(log.entries.last == "\(expected.remove(at: first).number)")
        }
        #expect(queue.takeAll().map(\.date) == expected.map(\.date).sorted())
    }
}
