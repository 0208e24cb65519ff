/// Where the library does not do what the contract says.
package struct Disagreement {
    package let program: Program
    package let stage: Stage
    package let expected: [Event]
    package let actual: [Event]

    /// Whether it is explained by polls that the loop has left out.
    ///
    /// The contract has two sentences about that. By the one nothing that is left out may be
    /// noticed, by the other a poll may be left out when the run's previous one was a few passes
    /// ago. A program that leaves a descriptor ready notices; this is what such a difference is
    /// known by.
    package let isLeftOutPoll: Bool

    /// Whether the loop came to no end.
    package var isEndless: Bool { actual.last == .hung || actual.last == .spun }

    /// The first line that differs, with what both did before it.
    package var description: String {
        let common = Model.agreement(of: expected, with: actual) ?? 0
        let before = actual[..<common].suffix(12).map { "    \($0)" }
        let kind = isLeftOutPoll ? " (a poll was left out)" : isEndless ? " (without end)" : ""
        let lines = [
            "\(common) events agree\(kind); the latest of them:", before.joined(separator: "\n"),
            "the contract: \(common < expected.count ? "\(expected[common])" : "the end")",
            "the library:  \(common < actual.count ? "\(actual[common])" : "the end")",
        ]
        return lines.joined(separator: "\n")
    }
}

extension Program {
    /// Carries the program out on the library and on the model.
    ///
    /// - Returns: How they differ; `nil` when they agree, and when it is not certain in real time
    ///   what comes first.
    package func disagreement(on stage: Stage) -> Disagreement? {
        guard isSettled(on: stage) else { return nil }
        let actual = Self.withSortedMembership(Library.trace(of: self, on: stage))
        var isLeftOutPoll = false
        let expected = trace(like: actual, on: stage, omittingPolls: [])
        // It may be unsettled by the choices that the library has made.
        guard !expected.isUnsettled, Model.agreement(of: expected.trace, with: actual) != nil else {
            return nil
        }
        if actual.last != .hung {
            var budget = 2_000
            isLeftOutPoll = explains(actual, on: stage, omittingPolls: [], &budget)
        }
        return Disagreement(
            program: self,
            stage: stage,
            expected: expected.trace,
            actual: actual,
            isLeftOutPoll: isLeftOutPoll
        )
    }

    private func trace(
        like actual: [Event],
        on stage: Stage,
        omittingPolls omitted: Set<Model.Poll>
    ) -> (trace: [Event], optionalPasses: [(pass: Int, event: Int)], isUnsettled: Bool) {
        let model = Model(
            self,
            observed: actual,
            isVirtual: stage == .virtual,
            omittingPolls: omitted
        )
        let trace = Self.withSortedMembership(model.trace())
        return (trace, model.optionalPasses, model.isUnsettled)
    }

    /// Whether the model does the same when it leaves out some more polls.
    ///
    /// Those of each of the latest passes before the first difference are tried, and those of
    /// several together: a loop may leave out the polls of one pass after another, and what it does
    /// then may come of two that it has left out with one between.
    private func explains(
        _ actual: [Event],
        on stage: Stage,
        omittingPolls omitted: Set<Model.Poll>,
        _ budget: inout Int
    ) -> Bool {
        budget -= 1
        let (expected, optional, _) = trace(like: actual, on: stage, omittingPolls: omitted)
        guard let common = Model.agreement(of: expected, with: actual) else { return true }
        let latest = optional.filter { $0.event <= common }.suffix(80).reversed().map(\.pass)
        for passes in Self.subsets(of: latest.prefix(6)) + Self.ranges(of: latest) {
            for steps in [[5, 7], [5], [7]] {
                let polls = passes.flatMap { pass in
                    steps.map { Model.Poll(pass: pass, step: $0) }
                }
                let more = omitted.union(polls)
                guard budget > 0, more != omitted else { continue }
                budget -= 1
                let trial = trace(like: actual, on: stage, omittingPolls: more).trace
                if let reached = Model.agreement(of: trial, with: actual), reached <= common {
                    continue
                }
                if explains(actual, on: stage, omittingPolls: more, &budget) { return true }
            }
        }
        return false
    }

    private static func subsets(of passes: some Collection<Int>) -> [[Int]] {
        passes.reduce(into: [[]]) { sets, pass in sets += sets.map { $0 + [pass] } }
            .filter { !$0.isEmpty }.sorted { $0.count < $1.count }
    }

    /// Several passes in a row, among them one of the first, and all others alone.
    private static func ranges(of passes: [Int]) -> [[Int]] {
        let single = passes.dropFirst(6).map { [$0] }
        return single
            + passes.indices.prefix(4).flatMap { first in
                passes.indices.dropFirst(first + 1).map { Array(passes[first...$0]) }
            }
    }

    /// Whether each visit ends a sleep, so that the next one comes in another.
    package func isSettled(on stage: Stage) -> Bool {
        guard stage == .libuv, !visits.isEmpty else { return true }
        let model = Model(self, isVirtual: false)
        _ = model.trace()
        return !model.isUnsettled
    }

    /// The contract leaves open in which order one call tells the `schedule` handlers of several
    /// sources and modes.
    private static func withSortedMembership(_ trace: [Event]) -> [Event] {
        var result = trace
        var index = 0
        while index < result.count {
            let end = result[index...].firstIndex { $0.membership == nil } ?? result.count
            result[index..<end].sort { ($0.membership ?? (0, 0, 0)) < ($1.membership ?? (0, 0, 0)) }
            index = end + 1
        }
        return result
    }
}

extension Event {
    fileprivate var membership: (Int, Int, Int)? {
        switch self {
        case .scheduled(let item, let mode): (item, mode.rawValue, 0)
        case .cancelled(let item, let mode): (item, mode.rawValue, 1)
        default: nil
        }
    }
}

extension Model {
    /// How many events two traces begin with alike; `nil` when they are alike altogether.
    fileprivate static func agreement(of one: [Event], with other: [Event]) -> Int? {
        one == other ? nil : zip(one, other).prefix { $0 == $1 }.count
    }
}
