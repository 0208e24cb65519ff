/// A driver's report about a descriptor, as libuv's callback records it and the engine queues it.
package struct ReadyReport: Sendable {
    package var descriptor: CInt
    /// The use of the number that the report is about.
    package var registration: UInt64
    /// The conditions found; `.hangUp` if the peer is gone or the descriptor has an error.
    package var events: UVRunLoop.DescriptorEvents
    /// Whether the peer is gone, but its data has not been read.
    package var hasUnread = false
    /// Whether libuv stopped watching after an error, and the descriptor has to be added again.
    package var isUnwatched = false
    /// Whether the driver has yet to query the conditions, before it hands the report out.
    var isUncertain = false

    package init(
        descriptor: CInt,
        registration: UInt64,
        events: UVRunLoop.DescriptorEvents,
        hasUnread: Bool = false
    ) {
        self.descriptor = descriptor
        self.registration = registration
        self.events = events
        self.hasUnread = hasUnread
    }
}
