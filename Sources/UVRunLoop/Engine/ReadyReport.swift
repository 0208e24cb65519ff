/// A driver's report about a descriptor, as a poll records it and the engine queues it.
package struct ReadyReport: Sendable {
    package var descriptor: CInt
    /// The conditions found; `.hangUp` if the peer is gone or the descriptor has an error.
    package var events: UVRunLoop.DescriptorEvents
    var details: Details
    /// The use of the number that the report is about.
    package var registration: UInt64

    package init(
        descriptor: CInt,
        registration: UInt64,
        events: UVRunLoop.DescriptorEvents,
        hasUnread: Bool = false
    ) {
        self.descriptor = descriptor
        self.registration = registration
        self.events = events
        details = hasUnread ? .unread : []
    }

    /// In one byte: a report is copied several times on its way.
    struct Details: OptionSet {
        let rawValue: UInt8

        /// The peer is gone, but its data has not been read.
        static let unread = Details(rawValue: 1)
        /// libuv stopped watching after an error, and the descriptor has to be added again.
        static let stopped = Details(rawValue: 2)
        /// The driver has yet to query the conditions, before it hands the report out.
        static let uncertain = Details(rawValue: 4)
        /// Uncertain only because libuv may hide a hang-up; nothing else suggests one.
        static let mayHideHangUp = Details(rawValue: 8)
    }
}
