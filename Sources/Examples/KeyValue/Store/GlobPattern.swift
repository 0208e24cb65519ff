/// A glob pattern: `*`, `?`, `[a-z]`, `[^a]` and `\`.
///
/// Matching backtracks to the last `*` only, so the number of steps is at most proportional to the
/// product of both lengths. Clients choose both, so the steps are limited.
struct GlobPattern {
    /// A limit on matching steps: a few for each byte of the texts, plus a constant.
    ///
    /// Common patterns take one or two steps a byte.
    struct Budget {
        private static let stepsPerByte = 8
        private(set) var steps = 1 << 22

        /// Whether a match was given up.
        var isSpent: Bool { steps < 0 }

        fileprivate mutating func allow(bytes: Int) { steps += Self.stepsPerByte * bytes }

        fileprivate mutating func spend(_ count: Int) { steps -= count }
    }

    private let pattern: ArraySlice<UInt8>

    init(_ pattern: ArraySlice<UInt8>) { self.pattern = pattern }

    /// Whether the whole text matches; `false` also once the budget is spent.
    func matches(_ text: [UInt8], within budget: inout Budget) -> Bool {
        budget.allow(bytes: text.count)
        var place = pattern.startIndex
        var position = 0
        /// Where to resume after the last star on a mismatch.
        var retry: (place: Int, position: Int)?

        while !budget.isSpent {
            if place < pattern.endIndex, pattern[place] == UInt8(ascii: "*") {
                place += 1
                if place == pattern.endIndex { return true }
                budget.spend(1)
                retry = (place, position)
                continue
            }
            if position == text.count {
                return place == pattern.endIndex
            }
            if let next = step(over: text[position], from: place, &budget) {
                place = next
                position += 1
            } else {
                guard let (star, start) = retry else { return false }
                retry = (star, start + 1)
                (place, position) = (star, start + 1)
            }
        }
        return false
    }

    /// The index after the pattern element that this byte matches, or `nil`.
    private func step(over byte: UInt8, from place: Int, _ budget: inout Budget) -> Int? {
        budget.spend(1)
        guard place < pattern.endIndex else { return nil }
        switch pattern[place] {
        case UInt8(ascii: "?"):
            return place + 1
        case UInt8(ascii: "["):
            return stepThroughClass(byte, from: place + 1, &budget)
        case UInt8(ascii: "\\") where place + 1 < pattern.endIndex:
            return pattern[place + 1] == byte ? place + 2 : nil
        case let literal:
            return literal == byte ? place + 1 : nil
        }
    }

    /// `[…]`: a missing bracket at the pattern's end is implied, as in Redis.
    private func stepThroughClass(
        _ byte: UInt8,
        from start: Int,
        _ budget: inout Budget
    ) -> Int? {
        var place = start
        let isNegated = place < pattern.endIndex && pattern[place] == UInt8(ascii: "^")
        if isNegated { place += 1 }
        var isMember = false
        while place < pattern.endIndex, pattern[place] != UInt8(ascii: "]") {
            if pattern[place] == UInt8(ascii: "\\"), place + 1 < pattern.endIndex {
                place += 1
                if pattern[place] == byte { isMember = true }
            } else if place + 2 < pattern.endIndex, pattern[place + 1] == UInt8(ascii: "-") {
                let bounds = (pattern[place], pattern[place + 2])
                if min(bounds.0, bounds.1)...max(bounds.0, bounds.1) ~= byte { isMember = true }
                place += 2
            } else if pattern[place] == byte {
                isMember = true
            }
            place += 1
        }
        budget.spend(place - start)
        guard isMember != isNegated else { return nil }
        return min(place + 1, pattern.endIndex)
    }
}
