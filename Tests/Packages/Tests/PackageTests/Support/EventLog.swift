import Synchronization

/// The events of any thread, in the order in which they happened.
final class EventLog: Sendable {
    private let state = Mutex<[String]>([])

    var entries: [String] { state.withLock(\.self) }

    func note(_ entry: String) { state.withLock { $0.append(entry) } }
}
