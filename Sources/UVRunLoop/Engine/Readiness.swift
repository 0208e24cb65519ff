/// What the driver reports of a descriptor.
package struct Readiness: Sendable {
    package var descriptor: CInt
    /// Which use of the number the report is about.
    package var registration: UInt64
    /// What holds; `.hangUp` when the other side is gone or the descriptor is in error.
    package var events: UVRunLoop.DescriptorEvents
    /// The other side is gone, but what it sent before has not been read.
    package var hasUnread = false
    /// After an error libuv watches no more: the descriptor has to be watched anew.
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
