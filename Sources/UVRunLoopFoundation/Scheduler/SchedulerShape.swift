import FoundationEssentials
public import UVRunLoop

extension UVRunLoop {
    /// The requirements of Combine's `Scheduler`, for libraries that declare that protocol on
    /// Linux.
    ///
    /// An extension makes the loop conform to a library's protocol; the article *Coming from
    /// Foundation* shows the lines. These members are in a protocol so that the loop's own ones
    /// take precedence where the types say so: its `now`, an instant of its clock, can still be
    /// used.
    ///
    /// The actions are not `@Sendable`, as Combine's are not, though they run on the loop's thread:
    /// the caller transfers them to it.
    ///
    /// > Threading: Any thread.
    public protocol SchedulerShape: UVRunLoop {}

    /// The options of a scheduled action; there are none.
    ///
    /// > Threading: Any thread.
    public struct SchedulerOptions: Sendable {}
}

extension UVRunLoop: UVRunLoop.SchedulerShape {}

extension UVRunLoop.SchedulerShape {
    /// The current date.
    ///
    /// The loop's own `now`, an instant of its clock, can be used too; where the type is not given,
    /// the date is chosen.
    ///
    /// > Threading: Any thread.
    public var now: UVRunLoop.SchedulerTimeType { UVRunLoop.SchedulerTimeType(.now) }

    /// The smallest tolerance that an action may have: zero.
    ///
    /// > Threading: Any thread.
    public var minimumTolerance: UVRunLoop.SchedulerTimeType.Stride { 0 }

    /// Runs an action in the default mode, as soon as possible.
    ///
    /// > Threading: Any thread. The action runs on the loop's thread and must not be used elsewhere
    /// > afterwards.
    ///
    /// - Parameters:
    ///   - options: Ignored.
    ///   - action: The work.
    public func schedule(
        options: UVRunLoop.SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        let handedOver = HomeBound(action, home: Home(thread))
        perform { handedOver.current?() }
    }

    /// Runs an action in the default mode, at a date.
    ///
    /// > Threading: Any thread. The action runs on the loop's thread and must not be used elsewhere
    /// > afterwards.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - tolerance: How late it may be so that one wake-up can serve several timers.
    ///   - options: Ignored.
    ///   - action: The work.
    public func schedule(
        after date: UVRunLoop.SchedulerTimeType,
        tolerance: UVRunLoop.SchedulerTimeType.Stride,
        options: UVRunLoop.SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        _ = UVRunLoop.ScheduledAction(on: self, date, nil, tolerance, action)
    }

    /// Runs an action in the default mode, at a date and then repeatedly.
    ///
    /// > Threading: Any thread. The action runs on the loop's thread and must not be used elsewhere
    /// > afterwards.
    ///
    /// - Parameters:
    ///   - date: The first date.
    ///   - interval: The time between two dates.
    ///   - tolerance: How late it may be so that one wake-up can serve several timers.
    ///   - options: Ignored.
    ///   - action: The work.
    /// - Returns: A value to cancel the series with. The series goes on if it is discarded.
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
