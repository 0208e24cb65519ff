import UVRunLoop

extension UVRunLoop.EventLog {
    /// Compares the entries with those that a test expects.
    ///
    /// - Parameter expected: The expected entries.
    /// - Returns: The difference, whose description shows it; `nil` if there is none.
    public func difference(from expected: [String]) -> Difference? {
        Difference(expected: expected, found: entries)
    }

    /// How a log differs from what was expected.
    public struct Difference: Sendable, Equatable, CustomStringConvertible,
        CustomDebugStringConvertible
    {
        /// The expected entries that are not in the log, or not at their place.
        public let missing: [String]
        /// The entries of the log that were not expected, or not at their place.
        public let unexpected: [String]
        private let lines: [DifferenceLine]

        fileprivate init?(expected: [String], found: [String]) {
            guard expected != found else { return nil }
            lines = DifferenceLine.lines(expected: expected, found: found)
            missing = lines.filter { $0.kind == .missing }.map(\.text)
            unexpected = lines.filter { $0.kind == .unexpected }.map(\.text)
        }

        /// The entries near a difference, one in a line.
        ///
        /// A line with `-` is missing, one with `+` is unexpected. Equal entries further away are
        /// counted.
        public var description: String {
            var text = "\(missing.count) missing (-), \(unexpected.count) unexpected (+)"
            var skipped = 0
            for index in lines.indices {
                guard isShown(index) else {
                    skipped += 1
                    continue
                }
                text += Self.mark(of: exchange(&skipped, with: 0)) + "\n" + lines[index].description
            }
            return text + Self.mark(of: skipped)
        }

        /// The same as the description: it stands where a test shows an optional difference.
        public var debugDescription: String { description }

        /// How many equal entries are shown before and after a difference.
        private static let context = 3

        private func isShown(_ index: Int) -> Bool {
            let first = max(0, index - Self.context)
            let last = min(lines.count - 1, index + Self.context)
            return lines[first...last].contains { $0.kind != .same }
        }

        private static func mark(of skipped: Int) -> String {
            skipped == 0 ? "" : "\n  … \(skipped) equal"
        }
    }
}
