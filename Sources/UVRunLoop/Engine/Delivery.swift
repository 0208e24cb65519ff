extension GenericEngine {
    /// An event that a port-based source is about to be told of.
    struct Delivery {
        /// By what the loop that serves it knows the port.
        var ticket: Ticket
        var port: Items.Port
        var events: UVRunLoop.DescriptorEvents
        /// The kernel refused to watch the descriptor: this call is the last one.
        var isFinal: Bool
    }
}
