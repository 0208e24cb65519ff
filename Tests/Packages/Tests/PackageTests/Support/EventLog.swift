import Synchronization

/// What happened, in order, from whatever thread.
final class EventLog: Sendable {
    private let state = Mutex<[String]>([])

    var entries: [String] { state.withLock(\.self) }

    func note(_ entry: String) { state.withLock { $0.append(entry) } }
}
