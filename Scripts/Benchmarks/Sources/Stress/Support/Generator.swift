import BenchSupport

/// Makes choices from a seed; equal seeds make equal choices, on every machine.
struct Generator {
    private var numbers: SplitMix64

    /// Makes a generator whose numbers depend on all of the parts.
    init(_ parts: UInt64...) { numbers = SplitMix64(parts) }

    mutating func next() -> UInt64 { numbers.next() }

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
