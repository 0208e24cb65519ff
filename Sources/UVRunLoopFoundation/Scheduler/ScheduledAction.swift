import FoundationEssentials
public import UVRunLoop

extension UVRunLoop {
    /// Ends a series of scheduled actions: what Combine calls a `Cancellable`.
    ///
    /// > Threading: Any thread.
    public struct ScheduledAction: Sendable {
        private let timer: Timer

        init(
            on loop: UVRunLoop,
            _ date: SchedulerTimeType,
            _ interval: SchedulerTimeType.Stride?,
            _ tolerance: SchedulerTimeType.Stride,
            _ action: @escaping () -> Void
        ) {
            timer = Timer(
                .on(date.date),
                interval?.timeInterval ?? 0,
                interval != nil,
                nil,
                ThreadBound(sendable: { _ in action() })
            )
            timer.tolerance = tolerance.timeInterval
            loop.add(timer, forMode: .default)
        }

        /// Ends the series, and lets go of the action.
        ///
        /// > Threading: Any thread.
        public func cancel() { timer.invalidate() }
    }
}
