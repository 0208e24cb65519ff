/// How an instant of the suspending clock lies in memory.
///
/// It is the time since the clock's epoch and nothing else, which the standard library does not
/// promise. Its own calls copy both instants by way of tables of functions: that took 80 of the
/// 1,100 instructions to make a timer and add it, and 11 of 97 ns. So the layout is checked once in
/// a process, and those calls are made where it is another one.
enum InstantLayout {
    /// The time since the clock's epoch.
    @inline(__always)
    static func sinceEpoch(_ instant: SuspendingClock.Instant) -> Duration {
        isDuration ? bits(of: instant) : SuspendingClock.Instant.epoch.duration(to: instant)
    }

    private static let isDuration: Bool = {
        guard MemoryLayout<SuspendingClock.Instant>.size == MemoryLayout<Duration>.size else {
            return false
        }
        // A number whose halves are neither equal nor zero.
        let sample = Duration.seconds(1 << 40) + .nanoseconds(123_456_789)
        return [sample, .zero - sample, .zero].allSatisfy {
            bits(of: SuspendingClock.Instant.epoch.advanced(by: $0)) == $0
        }
    }()

    /// - Precondition: An instant has the size of a duration.
    @inline(__always)
    private static func bits(of instant: SuspendingClock.Instant) -> Duration {
        unsafe withUnsafeBytes(of: instant) { unsafe $0.load(as: Duration.self) }
    }
}
