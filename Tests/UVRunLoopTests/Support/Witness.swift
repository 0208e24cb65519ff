@testable import UVRunLoop

/// Tells a log when it is gone.
final class Witness: Sendable {
    private let name: String
    private let log: EventLog

    init(_ name: String, _ log: EventLog) {
        self.name = name
        self.log = log
    }

    func note(_ event: String) { log.note("\(name) \(event)") }

    deinit { log.note("\(name) gone") }
}
