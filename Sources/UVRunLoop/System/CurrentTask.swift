/// The task that the calling code belongs to.
package enum CurrentTask {
    /// Whether there is one.
    static var exists: Bool { unsafe withUnsafeCurrentTask { unsafe $0 != nil } }

    /// How long a thread may block before it checks whether its task was cancelled, in nanoseconds.
    private static let checkInterval: Int64 = 20_000_000

    /// Returns until when a thread may block that waits until a date; without a task, all the time.
    package static func nextCheck(before date: Int64) -> Int64 {
        exists ? min(date, monotonicNow().addingSaturating(checkInterval)) : date
    }
}
