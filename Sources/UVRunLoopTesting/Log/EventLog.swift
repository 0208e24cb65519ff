import UVRunLoop

extension UVRunLoop {
    /// The events of a test, in order, from any threads.
    ///
    /// Handlers note what they do, and the test compares the whole:
    ///
    /// ```swift
    /// #expect(log.difference(from: ["1 s: tick", "2 s: tick"]) == nil)
    /// ```
    ///
    /// > Threading: Any thread.
    public final class EventLog: Sendable {
        private let state = Guarded<[String]>([])
        private let clock: VirtualClock?

        /// Creates an empty log.
        ///
        /// - Parameter clock: The clock whose time each entry begins with, counted in seconds from
        ///   the clock's start, as `1.5 s: `; `nil` for entries without a time.
        public init(timedBy clock: VirtualClock? = nil) {
            self.clock = clock
        }

        /// The entries so far.
        public var entries: [String] { state.withLock { $0 } }

        /// The number of entries so far.
        public var count: Int { state.withLock { $0.count } }

        /// Adds an entry.
        ///
        /// - Parameter entry: The text.
        public func note(_ entry: String) {
            let time = clock.map { "\(Seconds($0.elapsed.nanosecondsRoundedUp)): " } ?? ""
            state.withLock { $0.append(time + entry) }
        }

        /// Removes all entries.
        public func clear() { state.withLock { $0 = [] } }

        /// Adds an observer that notes every activity, by its name, such as `beforeTimers`.
        ///
        /// - Parameters:
        ///   - loop: The loop to observe.
        ///   - activities: The activities to note.
        ///   - mode: The mode.
        ///   - order: The observer's position among those of the mode.
        ///   - name: A text that the entries begin with.
        public func observe(
            _ loop: UVRunLoop,
            _ activities: Activities = .all,
            in mode: Mode = .default,
            order: Int = 0,
            as name: String = ""
        ) {
            let note: @Sendable (Observer, Activities) -> Void = { self.note(name + $1.name) }
            let observer = Observer(activities: activities, order: order, sendableHandler: note)
            loop.add(observer, forMode: mode)
        }
    }
}

extension UVRunLoop.Activities {
    /// The name of a single activity.
    package var name: String {
        switch self {
        case .entry: "entry"
        case .beforeTimers: "beforeTimers"
        case .beforeSources: "beforeSources"
        case .beforeWaiting: "beforeWaiting"
        case .afterWaiting: "afterWaiting"
        case .exit: "exit"
        default: "several activities at once: \(rawValue)"
        }
    }
}

extension UVRunLoop.EventLog: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
