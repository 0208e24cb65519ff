public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop {
    /// A date, as the time of Combine's schedulers.
    ///
    /// > Threading: Any thread.
    public struct SchedulerTimeType: Strideable, Hashable, Codable, Sendable {
        /// The date.
        public var date: Date

        /// Wraps a date.
        ///
        /// - Parameter date: The date.
        public init(_ date: Date) { self.date = date }

        /// The interval from this date to another; negative if the other is earlier.
        ///
        /// - Parameter other: The other date.
        /// - Returns: The interval.
        public func distance(to other: SchedulerTimeType) -> Stride {
            Stride(other.date.timeIntervalSinceReferenceDate - date.timeIntervalSinceReferenceDate)
        }

        /// The date after an interval.
        ///
        /// - Parameter value: The interval; negative for an earlier date.
        /// - Returns: The date.
        public func advanced(by value: Stride) -> SchedulerTimeType {
            SchedulerTimeType(date.addingTimeInterval(value.timeInterval))
        }
    }
}
