import UVRunLoop

/// The events of any thread in order, and the bytes that arrived as one stream.
package final class StreamLog: Sendable {
    private let log = EventLog()
    private let bytes = Guarded<[UInt8]>([])

    package init() {}

    /// The events that are no bytes.
    package var entries: [String] { log.entries }
    package var count: Int { log.count }
    package var received: [UInt8] { bytes.withLock { $0 } }

    package func note(_ entry: String) { log.note(entry) }

    package func gather(_ bytes: [UInt8]) { self.bytes.withLock { $0 += bytes } }
}
