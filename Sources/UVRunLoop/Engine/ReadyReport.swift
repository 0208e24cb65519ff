/// A driver's report about a descriptor.
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

    package init(
        descriptor: CInt,
        registration: UInt64,
        events: UVRunLoop.DescriptorEvents,
        hasUnread: Bool = false,
        isUnwatched: Bool = false
    ) {
        self.descriptor = descriptor
        self.registration = registration
        self.events = events
        self.hasUnread = hasUnread
        self.isUnwatched = isUnwatched
    }
}
