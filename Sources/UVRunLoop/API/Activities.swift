extension UVRunLoop {
    /// The points of a run at which observers are called.
    ///
    /// An observer is created for a set of activities; each call passes exactly one. The raw values
    /// are those of `CFRunLoopActivity`.
    ///
    /// > Threading: Any thread.
    public struct Activities: OptionSet, Hashable, Sendable {
        /// The raw bits.
        public let rawValue: UInt

        /// Creates a set from raw bits.
        ///
        /// - Parameter rawValue: The raw bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Step 1: a run begins.
        public static let entry = Activities(rawValue: 1)
        /// Step 2: timers that are ready are about to fire.
        public static let beforeTimers = Activities(rawValue: 2)
        /// Step 3: sources that are not port-based are about to fire.
        public static let beforeSources = Activities(rawValue: 4)
        /// Step 6: the thread is about to sleep.
        public static let beforeWaiting = Activities(rawValue: 32)
        /// Step 8: the thread has just woken up, and has not yet handled what woke it.
        public static let afterWaiting = Activities(rawValue: 64)
        /// Step 10: a run ends.
        public static let exit = Activities(rawValue: 128)
        /// All activities, future ones included.
        public static let all = Activities(rawValue: 0x0FFF_FFFF)
    }
}

extension UVRunLoop.Activities: CustomStringConvertible {
    /// The name of the activity; the names of several in brackets.
    public var description: String {
        if isSuperset(of: .all) { return "all" }
        let names = Self.names.filter { contains($0.activity) }.map(\.name)
        let known = Self.names.reduce(into: Self()) { $0.insert($1.activity) }
        let rest = subtracting(known).rawValue
        return (rest == 0 ? names : names + [String(rest)]).setDescription
    }

    private static var names: [(activity: Self, name: String)] {
        [
            (.entry, "entry"), (.beforeTimers, "beforeTimers"), (.beforeSources, "beforeSources"),
            (.beforeWaiting, "beforeWaiting"), (.afterWaiting, "afterWaiting"), (.exit, "exit"),
        ]
    }
}
