import CUVSupport
internal import UVLibc
import UVRunLoop

/// A timerfd on the calendar's clock, which is readable when its date has come or the clock was
/// set.
final class WallAlarm: Sendable {
    typealias Event = UVRunLoop.WallTimer.Event

    let descriptor: CInt
    private let state: Guarded<State>

    private struct State: ~Copyable {
        /// `nil` once it was closed.
        var timer: Descriptor?
        var date: Int64
        /// Whether the date is still to come, or was not reported yet.
        var isPending = true
    }

    /// Nanoseconds of the calendar's clock.
    static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Creates a timer for a date in nanoseconds of the calendar's clock.
    init(_ date: Int64) throws(UVRunLoop.SystemError) {
        let timer: Descriptor
        do {
            timer = try Descriptor.timer(isCalendar: true)
        } catch {
            throw UVRunLoop.SystemError(.schedule, error)
        }
        descriptor = timer.number
        let error = Self.arm(descriptor, date)
        guard error == 0 else { throw UVRunLoop.SystemError(.schedule, UVError(rawValue: -error)) }
        state = Guarded(State(timer: timer, date: date))
    }

    /// The date in nanoseconds of the calendar's clock.
    var date: Int64 { state.withLock { $0.date } }

    /// Arms the timer anew, and withdraws the event of the former date.
    ///
    /// Under one lock, as ``take(into:)``: the event of a date is in the inbox only as long as that
    /// is the date.
    ///
    /// - Returns: Whether this has found that the clock was set, and left an event.
    func setDate(_ date: Int64, _ inbox: EventInbox<Event>) -> Bool {
        let descriptor = descriptor
        return state.withLock { state in
            guard state.timer != nil else { return false }
            state.date = date
            state.isPending = true
            let clockWasSet = Self.arm(descriptor, date) == ECANCELED
            inbox.change { events in
                events.removeAll { $0 == .reached }
                if clockWasSet, events.isEmpty { events.append(.clockWasSet) }
            }
            return clockWasSet
        }
    }

    /// Whether the date is still to come.
    var isPending: Bool { state.withLock { $0.isPending } }

    /// The kernel follows the clock when it is set; it only has to report that.
    ///
    /// - Returns: Zero or an `errno`; `ECANCELED` if the timer is armed, and the clock was set
    ///   since it was read, which is not reported again.
    @discardableResult
    private static func arm(_ descriptor: CInt, _ date: Int64) -> CInt {
        // Zero would disarm the timer.
        let date = max(date, 1)
        var value = itimerspec()
        value.it_value.tv_sec = Int(date / 1_000_000_000)
        value.it_value.tv_nsec = Int(date % 1_000_000_000)
        let flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET
        return unsafe timerfd_settime(descriptor, CInt(flags), &value, nil) == 0 ? 0 : errno
    }

    /// Reads the timer, and leaves what has happened, if anything.
    func take(into inbox: EventInbox<Event>) {
        let descriptor = descriptor
        state.withLock { state in
            guard state.timer != nil else { return }
            var count: UInt64 = 0
            let length = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
            let outcome = Self.outcome(
                isExpired: length > 0,
                wasSet: length < 0 && errno == ECANCELED,
                isPending: state.isPending,
                isDue: Self.now >= state.date
            )
            if outcome.rearms { Self.arm(descriptor, state.date) }
            guard let event = outcome.event else { return }
            if event == .reached { state.isPending = false }
            inbox.change { events in
                if events.last != event { events.append(event) }
            }
        }
    }

    /// Interprets a reading.
    ///
    /// - Parameters:
    ///   - isExpired: Whether the kernel says that the date has come.
    ///   - wasSet: Whether the kernel says that the clock was set.
    ///   - isPending: Whether the date was not reported yet.
    ///   - isDue: Whether the clock shows the date now.
    /// - Returns: The event, and whether the timer is to be armed again.
    static func outcome(
        isExpired: Bool,
        wasSet: Bool,
        isPending: Bool,
        isDue: Bool
    ) -> (event: Event?, rearms: Bool) {
        // A clock that was set past the date may have made the timer expire, too, which the next
        // reading tells.
        if wasSet { return (.clockWasSet, isPending) }
        guard isExpired, isPending else { return (nil, false) }
        // The clock was set back after the timer had expired.
        return isDue ? (.reached, false) : (.clockWasSet, true)
    }

    /// Closes the timer; nothing watches it any more.
    func close() { state.withLock { $0.timer = nil } }
}
