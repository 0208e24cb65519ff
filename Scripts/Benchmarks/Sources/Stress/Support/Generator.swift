/// Draws numbers from a seed: SplitMix64.
///
/// Equal seeds make equal choices, on every machine.
struct Generator {
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var state: UInt64

    /// Makes a generator whose numbers depend on all of the parts.
    init(_ parts: UInt64...) {
        state = 0
        for part in parts { state = Self.mix(state &+ Self.step ^ part) }
    }

    mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mix(state)
    }

    /// A number that looks as if drawn, and depends on nothing but the argument.
    static func mix(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A generator of its own for one matter, so that how much that draws changes nothing here.
    mutating func fork() -> Generator { Generator(next()) }

    /// A number from 0 to one less than the limit.
    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    mutating func within(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.count)
    }

    /// Whether something comes about that does so once in so many times.
    mutating func once(in times: Int) -> Bool { below(times) == 0 }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}
