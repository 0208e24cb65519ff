import FoundationEssentials
import UVRunLoop

/// A timer's properties in Foundation's types, which its monotonic date cannot represent exactly.
final class TimerCompanion: Sendable {
    private struct State {
        /// The latest instant that was converted, and its date.
        var instant: UVRunLoop.Instant
        var date: Date
        weak var userInfo: UserInfo?
    }

    /// Zero for a timer that fires once.
    let timeInterval: TimeInterval
    private let state: Guarded<State>

    init(
        _ instant: UVRunLoop.Instant,
        _ date: Date,
        _ timeInterval: TimeInterval,
        _ userInfo: UserInfo?
    ) {
        self.timeInterval = timeInterval
        state = Guarded(State(instant: instant, date: date, userInfo: userInfo))
    }

    /// The date of an instant: the one that was set for it, or else the same at every read.
    ///
    /// - Parameters:
    ///   - instant: The instant.
    ///   - loop: The loop that the timer is in.
    /// - Returns: The date.
    func date(of instant: UVRunLoop.Instant, in loop: UVRunLoop?) -> Date {
        state.withLock { state in
            if state.instant != instant {
                state.instant = instant
                state.date = ClockReading.now(for: loop).date(of: instant)
            }
            return state.date
        }
    }

    /// Stores the date that was set for an instant.
    func store(_ date: Date, for instant: UVRunLoop.Instant) {
        state.withLock { state in
            state.instant = instant
            state.date = date
        }
    }

    /// The timer's user info; `nil` once it is invalid.
    var userInfo: UserInfo? { state.withLock(\.userInfo) }
}

/// A timer's user info.
///
/// Only the handler retains it, so it is released with the handler.
final class UserInfo: Sendable {
    private let value: HomeBound<Any?>

    /// Binds the value to the calling thread.
    init(_ value: Any?) { self.value = HomeBound(value) }

    var current: Any? {
        require(
            value.home.isHere,
            "This timer's userInfo is not Sendable, so it belongs to the thread that made the timer. Read it there."
        )
        return value.current ?? nil
    }
}
