import UVRunLoop

/// What happened, in order, from whatever thread.
package final class EventLog: Sendable {
    private let state = Guarded<(entries: [String], received: [UInt8])>(([], []))

    package init() {}

    package var entries: [String] { state.withLock { $0.entries } }

    package var count: Int { state.withLock { $0.entries.count } }

    /// The bytes that were gathered, as one stream.
    package var received: [UInt8] { state.withLock { $0.received } }

    package func note(_ entry: String) { state.withLock { $0.entries.append(entry) } }

    package func gather(_ bytes: [UInt8]) { state.withLock { $0.received += bytes } }

    package func clear() { state.withLock { $0 = ([], []) } }

    /// Adds an observer that notes every activity it is told of.
    package func observe(
        _ loop: UVRunLoop,
        _ activities: UVRunLoop.Activities = .all,
        in mode: UVRunLoop.Mode = .default,
        order: Int = 0,
        as name: String = ""
    ) {
        let observer = UVRunLoop.Observer(activities: activities, order: order) { _, activity in
            self.note(name + activity.name)
        }
        loop.add(observer, forMode: mode)
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
