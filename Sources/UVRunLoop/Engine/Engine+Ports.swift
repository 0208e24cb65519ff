extension GenericEngine {
    typealias Events = UVRunLoop.DescriptorEvents

    mutating func insert(_ port: Items.Port) -> Ticket {
        let serial = nextSerial()
        let ticket = ports.insert(PortRecord(port: port, serial: serial))
        if let descriptor = port.descriptor {
            descriptors.insert(ticket, for: descriptor, serial: serial)
            for other in descriptors[descriptor]?.sources ?? [] where other != ticket {
                requestWatch(other)
            }
        }
        return ticket
    }

    mutating func add(_ ticket: Ticket, portTo mode: UVRunLoop.Mode) {
        renewVersion()
        ports.modify(ticket) { $0.hasHungUp = false }
        _ = ports.add(ticket, to: mode, in: &modes)
        didJoin(ticket)
    }

    /// Requests the kernel's watch for a port that has joined a mode, and makes the mode's runs look
    /// for events that the port already has.
    mutating func didJoin(_ ticket: Ticket) {
        requestWatch(ticket)
        if ports.modify(ticket, { $0.turn != nil }) == true { summary.mayHoldReady = true }
    }

    /// Removes a port from a mode; returns its record if the loop no longer needs it.
    mutating func remove(_ ticket: Ticket, portFrom mode: UVRunLoop.Mode) -> PortRecord<Items>? {
        renewVersion()
        _ = ports.remove(ticket, from: mode, in: &modes)
        guard let dropped = ports.dropIfUnused(ticket) else { return nil }
        forgetDescriptor(of: dropped, ticket)
        return dropped
    }

    /// Removes a port from the loop.
    mutating func removePort(_ ticket: Ticket) -> PortRecord<Items>? {
        renewVersion()
        guard let found = ports.removeEverywhere(ticket, in: &modes) else { return nil }
        forgetDescriptor(of: found.record, ticket)
        return found.record
    }

    /// The ports of a mode.
    func ports(in mode: UVRunLoop.Mode) -> [Items.Port] {
        modes.index(of: mode).map { ports.records(in: $0).map(\.port) } ?? []
    }

    private mutating func forgetDescriptor(of record: PortRecord<Items>, _ ticket: Ticket) {
        if let descriptor = record.descriptor { descriptors.remove(ticket, from: descriptor) }
    }

    /// Sets whether a port keeps its modes from being empty, which ports do at first.
    mutating func setKeepsModes(_ keepsModes: Bool, _ ticket: Ticket) {
        renewVersion()
        ports.modify(ticket, in: &modes) { record, modes in
            guard record.keepsModes != keepsModes else { return }
            record.keepsModes = keepsModes
            let difference = keepsModes ? -1 : 1
            let attachment = record.attachment
            attachment.forEach { modes[$0.mode].idlePortCount += difference }
        }
    }
}
