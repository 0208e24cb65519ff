/// A moment of the calendar's clock: milliseconds since 1970, as Redis counts them.
///
/// Dates of expiry are kept in it because they have to survive the process.
struct WallTime: Hashable, Comparable, Sendable {
    var milliseconds: Int

    /// Later than everything: the date of what never expires.
    static let never = WallTime(milliseconds: .max)

    static func < (one: WallTime, other: WallTime) -> Bool {
        one.milliseconds < other.milliseconds
    }
}
