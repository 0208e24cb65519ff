/// A time in text, exact to the nanosecond: `1.5 s`.
struct Seconds: CustomStringConvertible {
    private static let nanoseconds: Int64 = 1_000_000_000

    let description: String

    init(_ nanoseconds: Int64) {
        let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(
            dividingBy: Self.nanoseconds.magnitude
        )
        let sign = nanoseconds < 0 ? "-" : ""
        var fraction = String((Self.nanoseconds.magnitude + rest).description.dropFirst())
        while fraction.last == "0" { fraction.removeLast() }
        description = "\(sign)\(whole)\(fraction.isEmpty ? "" : ".")\(fraction) s"
    }
}
