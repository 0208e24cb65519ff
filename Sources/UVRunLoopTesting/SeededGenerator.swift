import UVRunLoop

extension UVRunLoop {
    /// Random numbers that are the same for the same seed on every machine: SplitMix64.
    ///
    /// For tests of code that is random, such as the jitter of a back-off. Seeds stand in tests and
    /// in reports of failures, so the algorithm does not change.
    public struct SeededGenerator: RandomNumberGenerator, Sendable {
        private var state: UInt64

        /// Creates a generator.
        ///
        /// - Parameter seed: Determines the numbers.
        public init(seed: UInt64) { state = seed }

        /// Returns the next number.
        public mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
