import FoundationEssentials
import UVRunLoop

/// What a timer keeps in Foundation's terms, which a monotonic date cannot give back exactly.
final class TimerNotes: Sendable {
    private struct State {
        /// The latest instant that was asked about, and the date it was said to be.
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

    /// The date for an instant: the one that was given for it, or else the same at every reading.
    func date(of instant: UVRunLoop.Instant) -> Date {
        state.withLock { state in
            if state.instant != instant {
                state.instant = instant
                state.date = ClockReading.now.date(of: instant)
            }
            return state.date
        }
    }

    /// Keeps the date that was given for an instant.
    func note(_ date: Date, for instant: UVRunLoop.Instant) {
        state.withLock { state in
            state.instant = instant
            state.date = date
        }
    }

    /// What the timer carries; `nil` once it was invalidated.
    var userInfo: UserInfo? { state.withLock(\.userInfo) }
}

/// What a timer carries for its handler, which is the one that keeps it: it goes with the handler.
final class UserInfo: Sendable {
    private let value: HomeBound<Any?>

    /// Binds the value to the calling thread.
    init(_ value: Any?) { self.value = HomeBound(ThreadBound(value)) }

    /// Keeps a value that may go from thread to thread.
    init(sendable value: (any Sendable)?) { self.value = HomeBound(ThreadBound(sendable: value)) }

    var current: Any? {
        require(
            value.home?.isCurrent ?? true,
            "This timer's userInfo is not Sendable, so it belongs to the thread that made the timer. Ask for it there."
        )
        return value.current ?? nil
    }
}
