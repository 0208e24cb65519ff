/// Which of the timers and the ports of a mode come first in a pass in which both could.
///
/// They take turns by the loop's previous pass. Runs that are nested in every pass make that pass
/// one of another mode, over and over, so neither comes first more than 64 times in a row.
struct PassContest {
    private static let longestStreak = 64

    /// How often ports came first in a row; as a negative number, how often timers did.
    private var streak = 0

    /// Decides one pass.
    ///
    /// - Parameter prefersTimers: Whether it is the timers' turn by the loop's previous pass.
    /// - Returns: Whether timers come first.
    mutating func timersComeFirst(_ prefersTimers: Bool) -> Bool {
        let isOverdue = abs(streak) >= Self.longestStreak
        let timersWin = isOverdue ? streak > 0 : prefersTimers
        streak = timersWin ? min(streak, 0) - 1 : max(streak, 0) + 1
        return timersWin
    }
}
