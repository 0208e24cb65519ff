extension GenericEngine {
    /// An event to be delivered to a port-based source.
    struct Delivery: ~Copyable {
        /// The port's ticket in the loop that serves it.
        var ticket: Ticket
        var port: Items.Port
        var events: UVRunLoop.DescriptorEvents
        /// Whether this is the last call, because the kernel refused to watch the descriptor.
        var isFinal: Bool
    }
}
