/// An event that a port-based source is about to be told of.
struct Delivery {
    /// By what the loop that serves it knows the port.
    var ticket: Ticket
    /// The port as an object, whose type its receiver knows: an optional that holds a protocol's
    /// value is assigned by way of its type's metadata, which takes 100 instructions.
    var port: any AnyObject & Sendable
    var link: UVRunLoop.PortLink
    var events: UVRunLoop.DescriptorSource.Events
    /// The kernel refused to watch the descriptor: this call is the last one.
    var isFinal: Bool
}
