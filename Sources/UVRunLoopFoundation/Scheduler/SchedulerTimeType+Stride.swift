public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop.SchedulerTimeType {
    /// An interval in seconds, as in Combine's schedulers.
    ///
    /// > Threading: Any thread.
    public struct Stride: Comparable, SignedNumeric, ExpressibleByFloatLiteral, Hashable, Codable,
        Sendable
    {
        /// The type of a floating-point literal.
        public typealias FloatLiteralType = TimeInterval
        /// The type of an integer literal.
        public typealias IntegerLiteralType = TimeInterval
        /// The type of the number of seconds.
        public typealias Magnitude = TimeInterval

        /// The seconds; negative ones stay negative, as in Combine.
        public var magnitude: TimeInterval

        /// The seconds.
        public var timeInterval: TimeInterval { magnitude }

        /// Makes an interval.
        ///
        /// - Parameter timeInterval: The seconds.
        public init(_ timeInterval: TimeInterval) { magnitude = timeInterval }

        /// Makes an interval.
        ///
        /// - Parameter value: The seconds.
        public init(integerLiteral value: TimeInterval) { magnitude = value }

        /// Makes an interval.
        ///
        /// - Parameter value: The seconds.
        public init(floatLiteral value: TimeInterval) { magnitude = value }

        /// Makes an interval, if a floating-point number represents it exactly.
        ///
        /// - Parameter source: The seconds.
        public init?<Source: BinaryInteger>(exactly source: Source) {
            guard let value = TimeInterval(exactly: source) else { return nil }
            magnitude = value
        }

        /// Whether the left interval is shorter.
        public static func < (left: Stride, right: Stride) -> Bool {
            left.magnitude < right.magnitude
        }

        /// The sum of two intervals.
        public static func + (left: Stride, right: Stride) -> Stride {
            Stride(left.magnitude + right.magnitude)
        }

        /// The difference of two intervals.
        public static func - (left: Stride, right: Stride) -> Stride {
            Stride(left.magnitude - right.magnitude)
        }

        /// The product of two numbers of seconds.
        public static func * (left: Stride, right: Stride) -> Stride {
            Stride(left.magnitude * right.magnitude)
        }

        /// Adds an interval.
        public static func += (left: inout Stride, right: Stride) { left = left + right }

        /// Subtracts an interval.
        public static func -= (left: inout Stride, right: Stride) { left = left - right }

        /// Multiplies by another interval's number of seconds.
        public static func *= (left: inout Stride, right: Stride) { left = left * right }
    }
}

// The requirements of Combine's `SchedulerTimeIntervalConvertible`.
extension UVRunLoop.SchedulerTimeType.Stride {
    /// Whole seconds.
    ///
    /// - Parameter value: The number.
    /// - Returns: The interval.
    public static func seconds(_ value: Int) -> Self { Self(TimeInterval(value)) }

    /// Seconds.
    ///
    /// - Parameter value: The number.
    /// - Returns: The interval.
    public static func seconds(_ value: Double) -> Self { Self(value) }

    /// Thousandths of a second.
    ///
    /// - Parameter value: The number.
    /// - Returns: The interval.
    public static func milliseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e3) }

    /// Millionths of a second.
    ///
    /// - Parameter value: The number.
    /// - Returns: The interval.
    public static func microseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e6) }

    /// Billionths of a second.
    ///
    /// - Parameter value: The number.
    /// - Returns: The interval.
    public static func nanoseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e9) }
}
