/// A wall-clock time in milliseconds since 1970, as Redis counts.
///
/// Expiry dates use it because they survive the process.
struct WallTime: Hashable, Comparable, Sendable {
    var milliseconds: Int

    /// Later than every date: for keys that never expire.
    static let never = WallTime(milliseconds: .max)

    static func < (one: WallTime, other: WallTime) -> Bool {
        one.milliseconds < other.milliseconds
    }
}
