import FoundationEssentials
import UVRunLoop

/// A reading of the wall clock and a loop's clock at one moment, to convert dates and instants.
///
/// A date is converted once, when it is passed in, by the clock of the loop that it is for: one on
/// a virtual clock has another time than the calling thread. Setting the system's time afterwards
/// moves no deadline.
struct ClockReading {
    /// Twice the spacing of `Double` for dates from 2018 to 2035, added so that rounding never
    /// makes a timer early when dates are compared.
    private static let roundingMargin: Duration = .nanoseconds(240)

    private let wall: Date
    private let instant: UVRunLoop.Instant

    /// A reading of both clocks now.
    ///
    /// The wall clock is read first: time between the two readings makes an instant late, never
    /// early.
    ///
    /// - Parameter loop: The loop whose clock is read; `nil` for the calling thread's.
    /// - Returns: The reading.
    static func now(for loop: UVRunLoop?) -> ClockReading {
        var start = currentInstant(of: loop)
        var attemptsLeft = 3
        while true {
            let wall = Date.now
            let instant = currentInstant(of: loop)
            attemptsLeft -= 1
            // Being preempted between the readings would shift the date by as much.
            if attemptsLeft == 0 || start.duration(to: instant) < .microseconds(50) {
                return ClockReading(wall: wall, instant: instant)
            }
            start = instant
        }
    }

    private static func currentInstant(of loop: UVRunLoop?) -> UVRunLoop.Instant {
        loop?.clock.now ?? UVRunLoop.currentInstant
    }

    /// The instant of a date; `never` for dates that are centuries away.
    func instant(of date: Date) -> UVRunLoop.Instant {
        let interval = date.timeIntervalSince(wall)
        guard interval < Duration.longestInterval else { return .never }
        return instant + Duration(interval: interval) + Self.roundingMargin
    }

    /// The date of an instant.
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
    /// The last instant that a loop can represent; its clock never reaches it.
    static let never = SuspendingClock().systemEpoch.advanced(by: .nanoseconds(Int64.max))
}

extension Duration {
    /// 285 years in seconds; a longer interval, or NaN, means never.
    static let longestInterval: TimeInterval = 9_000_000_000

    /// Rounds to the nearest nanosecond: 0.1 has no exact binary form, but means 100 ms.
    init(interval: TimeInterval) {
        guard interval < Self.longestInterval else {
            self = .seconds(Int64(Self.longestInterval))
            return
        }
        let bounded = Swift.max(interval, -Self.longestInterval)
        self = .nanoseconds(Int64((bounded * 1_000_000_000).rounded()))
    }

    /// Seconds, as the nearest floating-point number.
    var interval: TimeInterval {
        let (seconds, attoseconds) = components
        // A single division where the integer is exact, so that 100 ms gives the same number as the
        // literal 0.1.
        let nanoseconds = attoseconds / 1_000_000_000
        guard abs(seconds) < 9_000_000 else { return Double(seconds) + Double(nanoseconds) / 1e9 }
        return Double(seconds * 1_000_000_000 + nanoseconds) / 1e9
    }
}
