/// Which of the timers and the ports of a mode come first in a pass in which both could.
///
/// They take turns by the loop's previous pass. Runs that are nested in every pass can make that
/// pass one of another mode, over and over, so neither comes first more than 64 times in a row
/// while the other has had no pass of the mode at all.
struct PassContest {
    private static let longestStreak = 64

    /// How often ports came first and timers had no pass; as a negative number, the reverse.
    private var streak = 0

    /// Decides a pass in which both could come first.
    ///
    /// - Parameter prefersTimers: Whether it is the timers' turn by the loop's previous pass.
    /// - Returns: Whether timers come first.
    mutating func timersComeFirst(_ prefersTimers: Bool) -> Bool {
        let isOverdue = abs(streak) >= Self.longestStreak
        let timersWin = isOverdue ? streak > 0 : prefersTimers
        streak = timersWin ? min(streak, 0) - 1 : max(streak, 0) + 1
        return timersWin
    }

    /// Records a pass that serves a port while no timer is due.
    mutating func portIsAlone() { streak = max(streak, 0) }

    /// Records a pass that fires timers while no port is ready.
    mutating func timersAreAlone() { streak = min(streak, 0) }
}
