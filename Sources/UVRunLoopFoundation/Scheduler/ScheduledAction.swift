import FoundationEssentials
public import UVRunLoop

extension UVRunLoop {
    /// A scheduled series of actions that can be cancelled, like Combine's `Cancellable`.
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
                for: loop,
                home: Home(loop.thread)
            ) { _ in action() }
            timer.tolerance = tolerance.timeInterval
            loop.add(timer, forMode: .default)
        }

        /// Cancels the series, and releases the action.
        ///
        /// > Threading: Any thread; the action is released on the loop's thread.
        public func cancel() { timer.invalidate() }
    }
}
