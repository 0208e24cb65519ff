import Testing

@testable import UVRunLoop

extension Engine {
    /// Adds a source for a pipe's read end as a loop would.
    mutating func addPort(
        _ pipe: Pipe,
        _ events: UVRunLoop.DescriptorSource.Events,
        order: Int = 0,
        to mode: UVRunLoop.Mode = .default
    ) throws -> Ticket {
        let source = try UVRunLoop.DescriptorSource(
            pipe.readEnd,
            events: events,
            order: order,
            sendableHandler: { _, _ in }
        )
        let ticket = insert(ServedPort(source))
        add(ticket, portTo: mode)
        return ticket
    }

    mutating func beginNextPoll() { beginPoll(latestPoll.number + 1) }

    /// Makes a poll of the first mode that finds nothing.
    mutating func findNothing() {
        _ = takeWatchChanges(for: 0)
        endPoll(latestPoll.number + 1, in: 0)
    }

    /// Records that a poll of the first mode was skipped while the kernel watches all.
    mutating func skipPoll(reusing poll: Int64) {
        _ = takeWatchChanges(for: 0)
        let isSkipped = recordSkippedPoll(reusing: poll, in: 0)
        #expect(isSkipped)
    }

    /// Records a plain report about the present use of a descriptor.
    mutating func record(
        _ descriptor: CInt,
        _ events: UVRunLoop.DescriptorSource.Events,
        in mode: Int
    ) -> WatchChange? {
        let registration = descriptors[descriptor]?.registration ?? 0
        var isForRun = false
        return record(
            ReadyReport(descriptor: descriptor, registration: registration, events: events),
            in: mode,
            &isForRun
        )
    }

    /// Takes the next port to be served, according to the latest poll that counts or a later one.
    mutating func takePort(in mode: Int, after poll: Int64? = nil) -> Delivered? {
        Delivered(takeReadyPort(in: mode, after: poll ?? latestPoll.number))
    }

    /// Whether a port of the first mode is ready, according to the latest poll.
    mutating func hasReadyPort() -> Bool { hasReadyPort(in: 0) }

    /// Does what a loop does after a port's handler has returned.
    mutating func finishServing(_ ticket: Ticket) {
        _ = endCall(of: ticket)
    }
}

/// A delivery, which tests can keep in arrays.
struct Delivered {
    let ticket: Ticket
    let events: UVRunLoop.DescriptorSource.Events
    let refusal: UVError?

    init?(_ delivery: consuming Engine.Delivery?) {
        switch consume delivery {
        case .none: return nil
        case .some(let delivery):
            (ticket, events, refusal) = (delivery.ticket, delivery.events, delivery.refusal)
        }
    }
}
