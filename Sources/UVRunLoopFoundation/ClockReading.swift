import FoundationEssentials
import UVRunLoop

/// What the wall clock and the loops' clock said at the same moment: how dates and instants become
/// each other.
///
/// A date is converted once, when it is handed over. Setting the system's time afterwards moves
/// nothing that waits.
struct ClockReading {
    /// Two steps of the numbers that dates are, from 2018 to 2035: with them, whoever compares
    /// dates never finds a timer early.
    private static let step: Duration = .nanoseconds(240)

    private let wall: Date
    let instant: UVRunLoop.Instant

    /// The present moment.
    ///
    /// The wall clock is read first: what passes between the two readings makes an instant late,
    /// never early.
    static var now: ClockReading {
        var start = UVRunLoop.currentInstant
        var triesLeft = 3
        while true {
            let wall = Date.now
            let instant = UVRunLoop.currentInstant
            triesLeft -= 1
            // A thread that was interrupted in between would shift the date by as much.
            if triesLeft == 0 || start.duration(to: instant) < .microseconds(50) {
                return ClockReading(wall: wall, instant: instant)
            }
            start = instant
        }
    }

    /// The instant that a date stands for; `never` for dates that are centuries away.
    func instant(of date: Date) -> UVRunLoop.Instant {
        let interval = date.timeIntervalSince(wall)
        guard interval < Duration.longestInterval else { return .never }
        return instant + Duration(interval: interval) + Self.step
    }

    /// The date that an instant stands for.
    func date(of instant: UVRunLoop.Instant) -> Date {
        guard instant < .never else { return .distantFuture }
        return wall.addingTimeInterval(self.instant.duration(to: instant).interval)
    }

    /// The date after an interval, and its instant.
    func after(_ interval: TimeInterval) -> (date: Date, instant: UVRunLoop.Instant) {
        let date = wall.addingTimeInterval(interval)
        guard interval < Duration.longestInterval else { return (date, .never) }
        return (date, instant + Duration(interval: interval))
    }
}

extension UVRunLoop.Instant {
    /// The last instant that a loop can write down; its clock never comes to it.
    static let never = SuspendingClock().systemEpoch.advanced(by: .nanoseconds(Int64.max))
}

extension Duration {
    /// 285 years in seconds; a longer time, and one that is no number, is for ever.
    static let longestInterval: TimeInterval = 9_000_000_000

    /// The nearest whole nanosecond: 0.1 is no number of binary digits, but is 100 ms.
    init(interval: TimeInterval) {
        guard interval < Self.longestInterval else {
            self = .seconds(Int64(Self.longestInterval))
            return
        }
        let bounded = Swift.max(interval, -Self.longestInterval)
        self = .nanoseconds(Int64((bounded * 1_000_000_000).rounded()))
    }

    /// Seconds, as near as a floating-point number comes.
    var interval: TimeInterval {
        let (seconds, attoseconds) = components
        // One division of one whole number where that is exact: 100 ms are the number nearest to
        // 0.1 then, as in source code.
        let nanoseconds = attoseconds / 1_000_000_000
        guard abs(seconds) < 9_000_000 else { return Double(seconds) + Double(nanoseconds) / 1e9 }
        return Double(seconds * 1_000_000_000 + nanoseconds) / 1e9
    }
}
