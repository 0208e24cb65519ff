// Listing 3-1: a thread's main routine that observes all activities of its run loop, with a timer
// to give it work. `UVRunLoop.Observer` stands for `CFRunLoopObserverCreate`, and `run(mode:for:)`
// for `runUntilDate:`.

import UVRunLoop

/// Runs the loop ten times and logs, in one line for each run, what the observer saw.
func createAnObserver(
    _ log: Log,
    interval: Duration = .milliseconds(100),
    limit: Duration = .milliseconds(100)
) {
    let loop = UVRunLoop.current
    var story: [String] = []

    // The handlers stay on this thread, so they need not be `Sendable` and may share a variable.
    let observer = UVRunLoop.Observer(activities: .all) { _, activity in
        story.append(activity.name)
    }
    loop.add(observer, forMode: .default)

    let timer = UVRunLoop.Timer(after: interval, interval: interval) { _ in
        story.append("timer")
    }
    loop.add(timer, forMode: .default)

    for _ in 1...10 {
        let result = loop.run(mode: .default, for: limit)
        log.note(story.joined(separator: " ") + " (\(result))")
        story = []
    }
}

extension UVRunLoop.Activities {
    /// The name of an activity in the log.
    fileprivate var name: String {
        switch self {
        case .entry: "entry"
        case .beforeTimers: "timers"
        case .beforeSources: "sources"
        case .beforeWaiting: "sleep"
        case .afterWaiting: "wake"
        case .exit: "exit"
        default: "unknown"
        }
    }
}
