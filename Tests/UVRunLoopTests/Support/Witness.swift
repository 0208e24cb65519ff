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

/// A loop on its way from one thread to another.
final class LoopBox: Sendable {
    private let content = Guarded<UVRunLoop?>(nil)

    var loop: UVRunLoop? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

/// A request that is known only after its block was made.
final class TokenBox: Sendable {
    private let content = Guarded<UVRunLoop.PerformRequest?>(nil)

    var request: UVRunLoop.PerformRequest? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
