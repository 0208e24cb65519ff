/// A pattern of the kind that shells use for file names: `*`, `?`, `[a-z]`, `[^a]` and `\`.
///
/// It is matched by going back to the last `*` only, so the time grows with the product of both
/// lengths at worst, never faster.
struct GlobPattern {
    private let pattern: ArraySlice<UInt8>

    /// Whether every key matches, so that nobody has to look.
    var matchesEverything: Bool { pattern.elementsEqual(CollectionOfOne(UInt8(ascii: "*"))) }

    init(_ pattern: ArraySlice<UInt8>) { self.pattern = pattern }

    func matches(_ text: [UInt8]) -> Bool {
        var place = pattern.startIndex
        var position = 0
        /// Where to go on when what follows the last star does not fit.
        var retry: (place: Int, position: Int)?

        while true {
            if place < pattern.endIndex, pattern[place] == UInt8(ascii: "*") {
                place += 1
                retry = (place, position)
                continue
            }
            if position == text.count {
                return place == pattern.endIndex
            }
            if let next = step(over: text[position], from: place) {
                place = next
                position += 1
            } else {
                guard let (star, start) = retry else { return false }
                retry = (star, start + 1)
                (place, position) = (star, start + 1)
            }
        }
    }

    /// The place behind the part of the pattern that this byte satisfies, or `nil`.
    private func step(over byte: UInt8, from place: Int) -> Int? {
        guard place < pattern.endIndex else { return nil }
        switch pattern[place] {
        case UInt8(ascii: "?"):
            return place + 1
        case UInt8(ascii: "["):
            return stepThroughClass(byte, from: place + 1)
        case UInt8(ascii: "\\") where place + 1 < pattern.endIndex:
            return pattern[place + 1] == byte ? place + 2 : nil
        case let literal:
            return literal == byte ? place + 1 : nil
        }
    }

    /// `[…]`: a missing bracket at the pattern's end is taken as given, as in Redis.
    private func stepThroughClass(_ byte: UInt8, from start: Int) -> Int? {
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
        guard isMember != isNegated else { return nil }
        return min(place + 1, pattern.endIndex)
    }
}
