/// Random numbers that are the same for the same seed on every machine: SplitMix64.
///
/// Seeds stand in tests and in reports of failures: the algorithm does not change.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() >> 24) }

    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    package mutating func coin() -> Bool { Bool.random(using: &self) }

    package mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
}
