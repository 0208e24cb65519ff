@testable import UVRunLoop

extension Engine {
    /// Adds a source for a pipe's read end as a loop would.
    mutating func addPort(
        _ pipe: Pipe, _ events: UVRunLoop.DescriptorSource.Events,
        order: Int = 0, to mode: UVRunLoop.Mode = .default
    ) throws -> Ticket {
        let source = try UVRunLoop.DescriptorSource(
            pipe.readEnd, events: events, order: order, sendableHandler: { _, _ in })
        let ticket = insert(source)
        add(ticket, portTo: mode)
        return ticket
    }

    /// Does what a loop does after a port's handler has returned.
    mutating func finishServing(_ ticket: Ticket) {
        ports[ticket]?.port.link.callDepth.subtract(1, ordering: .relaxed)
        endServing(ticket)
    }
}
