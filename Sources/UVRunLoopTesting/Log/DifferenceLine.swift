/// A line of the comparison of two lists.
struct DifferenceLine: Sendable, Equatable, CustomStringConvertible {
    enum Kind { case same, missing, unexpected }

    let kind: Kind
    let text: String

    var description: String {
        switch kind {
        case .same: "  \(text)"
        case .missing: "- \(text)"
        case .unexpected: "+ \(text)"
        }
    }

    /// Compares two lists: every element of either is one line, and the common ones are as many as
    /// possible, unless the lists are too long to find those in time.
    static func lines(expected: [String], found: [String]) -> [DifferenceLine] {
        let start = zip(expected, found).prefix { $0 == $1 }.count
        let (missing, unexpected) = (expected[start...], found[start...])
        let end = zip(missing.reversed(), unexpected.reversed()).prefix { $0 == $1 }.count
        return lines(.same, expected[..<start])
            + merged(Array(missing.dropLast(end)), Array(unexpected.dropLast(end)))
            + lines(.same, expected.suffix(end))
    }

    private static func lines(_ kind: Kind, _ texts: ArraySlice<String>) -> [DifferenceLine] {
        texts.map { DifferenceLine(kind: kind, text: $0) }
    }

    /// The most elements of which the common ones are as many as possible: where all differ, it
    /// takes half a second, and the time grows with the square of their number.
    private static let limit = 4_000

    private static func merged(_ expected: [String], _ found: [String]) -> [DifferenceLine] {
        guard expected.count + found.count <= limit else { return resumed(expected, found) }
        var (missing, unexpected) = (Set<Int>(), Set<Int>())
        for change in found.difference(from: expected) {
            switch change {
            case .remove(let offset, _, _): missing.insert(offset)
            case .insert(let offset, _, _): unexpected.insert(offset)
            }
        }
        var lines: [DifferenceLine] = []
        var rest = found.indices[...]
        func takeUnexpected() {
            let next = rest.prefix { unexpected.contains($0) }
            lines += next.map { DifferenceLine(kind: .unexpected, text: found[$0]) }
            rest = rest.dropFirst(next.count)
        }
        for (offset, text) in expected.enumerated() {
            let isMissing = missing.contains(offset)
            if !isMissing {
                takeUnexpected()
                rest = rest.dropFirst()
            }
            lines.append(DifferenceLine(kind: isMissing ? .missing : .same, text: text))
        }
        takeUnexpected()
        return lines
    }

    /// Goes through two lists, and after a difference on from the nearest elements that are equal.
    private static func resumed(_ expected: [String], _ found: [String]) -> [DifferenceLine] {
        var (missing, unexpected) = (expected[...], found[...])
        var result: [DifferenceLine] = []
        while let next = missing.first, let other = unexpected.first {
            if next == other {
                result.append(DifferenceLine(kind: .same, text: next))
                missing.removeFirst()
                unexpected.removeFirst()
                continue
            }
            let (skipped, inserted) = distance(missing.prefix(window), unexpected.prefix(window))
            result += lines(.missing, missing.prefix(skipped))
            result += lines(.unexpected, unexpected.prefix(inserted))
            missing = missing.dropFirst(skipped)
            unexpected = unexpected.dropFirst(inserted)
        }
        return result + lines(.missing, missing) + lines(.unexpected, unexpected)
    }

    private static let window = 64

    /// How far the nearest equal elements are from the starts of two lists; the counts if there are
    /// none.
    private static func distance(
        _ one: ArraySlice<String>,
        _ other: ArraySlice<String>
    ) -> (Int, Int) {
        for sum in 1..<(one.count + other.count - 1) {
            for first in max(0, sum - other.count + 1)...min(sum, one.count - 1)
            where one[one.startIndex + first] == other[other.startIndex + sum - first] {
                return (first, sum - first)
            }
        }
        return (one.count, other.count)
    }
}
