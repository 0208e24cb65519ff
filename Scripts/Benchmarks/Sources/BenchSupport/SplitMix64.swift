/// The numbers of SplitMix64: equal seeds make equal numbers, on every machine.
package struct SplitMix64 {
    @inlinable static var step: UInt64 { 0x9E37_79B9_7F4A_7C15 }

    @usableFromInline var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// Makes a generator whose numbers depend on all of the parts.
    package init(_ parts: [UInt64]) {
        state = 0
        for part in parts { state = Self.mix(state &+ Self.step ^ part) }
    }

    @inlinable
    package mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mix(state)
    }

    /// A number that looks random, and depends on nothing but the argument.
    @inlinable
    package static func mix(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
