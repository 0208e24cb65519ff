extension GenericEngine {
    /// An event to be delivered to a port-based source.
    struct Delivery: ~Copyable {
        /// The port's ticket in the loop that serves it.
        var ticket: Ticket
        var port: Items.Port
        var events: UVRunLoop.DescriptorEvents
        /// The kernel's refusal to watch the descriptor, if this call tells one.
        var refusal: UVError?
    }
}
