import UVRunLoop
import UVRunLoopTesting

/// Random numbers that are the same for the same seed on every machine.
package typealias SeededGenerator = UVRunLoop.SeededGenerator

extension UVRunLoop.SeededGenerator {
    package mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() >> 24) }

    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    package mutating func coin() -> Bool { Bool.random(using: &self) }

    package mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
}
