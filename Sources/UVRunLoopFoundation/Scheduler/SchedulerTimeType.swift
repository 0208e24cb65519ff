public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop {
    /// A date, as Combine's schedulers have it.
    ///
    /// > Threading: Any thread.
    public struct SchedulerTimeType: Strideable, Hashable, Codable, Sendable {
        /// The date.
        public var date: Date

        /// Makes the time of a date.
        ///
        /// - Parameter date: The date.
        public init(_ date: Date) { self.date = date }

        /// The time from this date to another, negative if that is the earlier one.
        ///
        /// - Parameter other: The other date.
        /// - Returns: The time between them.
        public func distance(to other: SchedulerTimeType) -> Stride {
            Stride(other.date.timeIntervalSinceReferenceDate - date.timeIntervalSinceReferenceDate)
        }

        /// The date after some time.
        ///
        /// - Parameter value: The time; negative for an earlier date.
        /// - Returns: The date.
        public func advanced(by value: Stride) -> SchedulerTimeType {
            SchedulerTimeType(date.addingTimeInterval(value.timeInterval))
        }
    }
}
