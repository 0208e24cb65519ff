public import FoundationEssentials
public import UVRunLoop

extension UVRunLoop.SchedulerTimeType {
    /// A time in seconds, as Combine's schedulers have it.
    ///
    /// > Threading: Any thread.
    public struct Stride: Comparable, SignedNumeric, ExpressibleByFloatLiteral, Hashable, Codable,
        Sendable
    {
        /// What a literal with a point is.
        public typealias FloatLiteralType = TimeInterval
        /// What a literal without one is.
        public typealias IntegerLiteralType = TimeInterval
        /// What the number of seconds is.
        public typealias Magnitude = TimeInterval

        /// The seconds; negative ones stay negative, as in Combine.
        public var magnitude: TimeInterval

        /// The seconds.
        public var timeInterval: TimeInterval { magnitude }

        /// Makes a time of some seconds.
        ///
        /// - Parameter timeInterval: The seconds.
        public init(_ timeInterval: TimeInterval) { magnitude = timeInterval }

        /// Makes a time of some seconds.
        ///
        /// - Parameter value: The seconds.
        public init(integerLiteral value: TimeInterval) { magnitude = value }

        /// Makes a time of some seconds.
        ///
        /// - Parameter value: The seconds.
        public init(floatLiteral value: TimeInterval) { magnitude = value }

        /// Makes a time of some seconds, if a floating-point number can say exactly how many.
        ///
        /// - Parameter source: The seconds.
        public init?<Source: BinaryInteger>(exactly source: Source) {
            guard let value = TimeInterval(exactly: source) else { return nil }
            magnitude = value
        }

        /// Whether the left time is the shorter.
        public static func < (left: Stride, right: Stride) -> Bool {
            left.magnitude < right.magnitude
        }

        /// The sum of two times.
        public static func + (left: Stride, right: Stride) -> Stride {
            Stride(left.magnitude + right.magnitude)
        }

        /// What is left of a time after another.
        public static func - (left: Stride, right: Stride) -> Stride {
            Stride(left.magnitude - right.magnitude)
        }

        /// The product of two times' numbers of seconds.
        public static func * (left: Stride, right: Stride) -> Stride {
            Stride(left.magnitude * right.magnitude)
        }

        /// Adds a time.
        public static func += (left: inout Stride, right: Stride) { left = left + right }

        /// Takes a time off.
        public static func -= (left: inout Stride, right: Stride) { left = left - right }

        /// Multiplies by another time's number of seconds.
        public static func *= (left: inout Stride, right: Stride) { left = left * right }
    }
}

// What Combine's `SchedulerTimeIntervalConvertible` asks for.
extension UVRunLoop.SchedulerTimeType.Stride {
    /// Whole seconds.
    ///
    /// - Parameter value: How many.
    /// - Returns: The time.
    public static func seconds(_ value: Int) -> Self { Self(TimeInterval(value)) }

    /// Seconds.
    ///
    /// - Parameter value: How many.
    /// - Returns: The time.
    public static func seconds(_ value: Double) -> Self { Self(value) }

    /// Thousandths of a second.
    ///
    /// - Parameter value: How many.
    /// - Returns: The time.
    public static func milliseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e3) }

    /// Millionths of a second.
    ///
    /// - Parameter value: How many.
    /// - Returns: The time.
    public static func microseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e6) }

    /// Billionths of a second.
    ///
    /// - Parameter value: How many.
    /// - Returns: The time.
    public static func nanoseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e9) }
}
