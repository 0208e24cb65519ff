import FoundationEssentials
public import UVRunLoop

extension UVRunLoop {
    /// The shape of Combine's `Scheduler`, for whichever library has that protocol on Linux.
    ///
    /// A library's protocol is adopted by an extension; the article *Coming from Foundation* shows
    /// the lines. What is here stands in a protocol so that it gives way where it has to: the
    /// loop's own `now`, a moment of its clock, can still be asked for by its type.
    ///
    /// The actions are not `@Sendable`, as Combine's are not, though they are run on the loop's
    /// thread: whoever schedules one hands it over.
    ///
    /// > Threading: Any thread.
    public protocol SchedulerShape: UVRunLoop {}

    /// What may be asked of a scheduled action: nothing so far.
    ///
    /// > Threading: Any thread.
    public struct SchedulerOptions: Sendable {}
}

extension UVRunLoop: UVRunLoop.SchedulerShape {}

extension UVRunLoop.SchedulerShape {
    /// The present date.
    ///
    /// The loop's own `now`, a moment of its clock, can be used too; where nothing tells which is
    /// meant, it is the date.
    ///
    /// > Threading: Any thread.
    public var now: UVRunLoop.SchedulerTimeType { UVRunLoop.SchedulerTimeType(.now) }

    /// How exact a scheduled action may ask to be: as exact as can be, zero.
    ///
    /// > Threading: Any thread.
    public var minimumTolerance: UVRunLoop.SchedulerTimeType.Stride { 0 }

    /// Runs an action in the default mode, as soon as the loop can.
    ///
    /// > Threading: Any thread. The action is run on the loop's and must not be used elsewhere any
    /// more.
    ///
    /// - Parameters:
    ///   - options: Without meaning.
    ///   - action: The work.
    public func schedule(
        options: UVRunLoop.SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        let handedOver = ThreadBound(sendable: action)
        perform { handedOver.value() }
    }

    /// Runs an action in the default mode, at a date.
    ///
    /// > Threading: Any thread. The action is run on the loop's and must not be used elsewhere any
    /// more.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - tolerance: How late it may be so that one wake-up can serve several timers.
    ///   - options: Without meaning.
    ///   - action: The work.
    public func schedule(
        after date: UVRunLoop.SchedulerTimeType,
        tolerance: UVRunLoop.SchedulerTimeType.Stride,
        options: UVRunLoop.SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        _ = UVRunLoop.ScheduledAction(on: self, date, nil, tolerance, action)
    }

    /// Runs an action in the default mode, at a date and then again and again.
    ///
    /// > Threading: Any thread. The action is run on the loop's and must not be used elsewhere any
    /// more.
    ///
    /// - Parameters:
    ///   - date: The first date.
    ///   - interval: The time between two dates.
    ///   - tolerance: How late it may be so that one wake-up can serve several timers.
    ///   - options: Without meaning.
    ///   - action: The work.
    /// - Returns: What ends the series. The series goes on without it too.
    @discardableResult
    public func schedule(
        after date: UVRunLoop.SchedulerTimeType,
        interval: UVRunLoop.SchedulerTimeType.Stride,
        tolerance: UVRunLoop.SchedulerTimeType.Stride,
        options: UVRunLoop.SchedulerOptions?,
        _ action: @escaping () -> Void
    ) -> UVRunLoop.ScheduledAction {
        UVRunLoop.ScheduledAction(on: self, date, interval, tolerance, action)
    }
}
