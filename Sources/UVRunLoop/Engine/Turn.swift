/// A position in an order: lower ranks first, and among equal ranks lower serial numbers.
///
/// A timer's rank is its date, that of a window the window's end, a source's its `order`, and a
/// port's the serial number at which it became ready; the other number breaks ties.
struct Turn: Comparable {
    var rank: Int64
    var serial: UInt64

    @inline(__always)
    static func < (left: Turn, right: Turn) -> Bool { left.number < right.number }

    /// Both as one number, which is compared without a branch.
    @inline(__always)
    private var number: Int128 { Int128(rank) << 64 | Int128(serial) }
}
