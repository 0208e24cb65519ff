/// A position in an order: lower ranks first, and among equal ranks lower serial numbers.
struct Turn: Comparable {
    var rank: Int64
    var serial: UInt64

    @inline(__always)
    static func < (left: Turn, right: Turn) -> Bool { left.number < right.number }

    /// Both as one number, which is compared without a branch.
    @inline(__always)
    private var number: Int128 { Int128(rank) << 64 | Int128(serial) }
}
