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
    /// possible.
    static func lines(expected: [String], found: [String]) -> [DifferenceLine] {
        var lines = expected.map { DifferenceLine(kind: .same, text: $0) }
        // Removals come first, from the last to the first; then insertions, from the first to the
        // last, whose offsets count the elements that are not missing.
        var offsets: [Int] = []
        for change in found.difference(from: expected) {
            switch change {
            case .remove(let offset, let text, _):
                lines[offset] = DifferenceLine(kind: .missing, text: text)
            case .insert(let offset, _, _): offsets.append(offset)
            }
        }
        for offset in offsets {
            let line = DifferenceLine(kind: .unexpected, text: found[offset])
            lines.insert(line, at: index(ofKept: offset, in: lines))
        }
        return lines
    }

    /// The index behind the first lines that contain so many elements of the list that was found.
    private static func index(ofKept count: Int, in lines: [DifferenceLine]) -> Int {
        var (index, left) = (0, count)
        while index < lines.count, left > 0 || lines[index].kind == .missing {
            if lines[index].kind != .missing { left -= 1 }
            index += 1
        }
        return index
    }
}
