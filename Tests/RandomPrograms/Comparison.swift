/// Where the library does not do what the contract says.
package struct Disagreement {
    package let program: Program
    package let stage: Stage
    package let expected: [Event]
    package let actual: [Event]

    /// Whether the loop came to no end, or served a busy descriptor in another turn.
    package var isOfAKnownKind: Bool {
        actual.contains(.hung)
            || program.items.contains {
                switch $0.kind {
                case .reader, .writer: true
                default: false
                }
            }
    }

    /// The first line that differs, with what both did before it.
    package var description: String {
        let common = zip(expected, actual).prefix { $0 == $1 }.count
        let before = actual[..<common].suffix(12).map { "    \($0)" }
        let end =
            actual.last.map { $0 == .spun || $0 == .hung ? "; in the end it \($0)" : "" } ?? ""
        let lines = [
            "\(common) events agree; the latest of them:", before.joined(separator: "\n"),
            "the contract: \(common < expected.count ? "\(expected[common])" : "the end")",
            "the library:  \(common < actual.count ? "\(actual[common])" : "the end")\(end)",
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
        let actual = Library.trace(of: self, on: stage)
        let model = Model(self, observed: actual, isVirtual: stage == .virtual)
        let expected = model.trace()
        let (one, other) = (Self.withSortedMembership(expected), Self.withSortedMembership(actual))
        guard one != other else { return nil }
        return Disagreement(program: self, stage: stage, expected: one, actual: other)
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
