extension GenericEngine {
    /// Records what the kernel reported about a descriptor, for each source that the mode's run can
    /// serve.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - mode: The mode.
    ///   - isForRun: Becomes `true` if the mode's run can serve at least one source.
    /// - Returns: The change that masks what the run was woken for and cannot serve, if that is all.
    mutating func record(
        _ report: ReadyReport,
        in mode: Int,
        _ isForRun: inout Bool
    ) -> WatchChange? {
        let descriptor = report.descriptor
        guard descriptors.registration(of: descriptor) == report.registration else {
            return WatchChange(descriptor: descriptor, registration: report.registration)
        }
        var isServed = false
        for index in 0..<descriptors.sourceCount(of: descriptor) {
            let ticket = descriptors.source(index, of: descriptor)
            if queue(ticket, report, in: mode) { isServed = true }
        }
        if isServed { (summary.mayHoldReady, isForRun) = (true, true) }
        guard report.details.contains(.stopped) else {
            return isServed ? nil : maskUnserved(descriptor, for: mode)
        }
        markUnwatched(descriptor)
        return nil
    }

    /// Takes a source for delivery without queuing it, if its report is all there is to serve in
    /// the mode.
    ///
    /// - Parameters:
    ///   - report: The only report of this poll.
    ///   - mode: The mode.
    ///   - now: The current time; ignored for a mode without timers.
    /// - Returns: The delivery; `nil` if the source has to be queued.
    mutating func takeSoleReadyPort(_ report: ReadyReport, in mode: Int, now: Int64) -> Delivery? {
        guard !report.details.contains(.stopped), modes[mode].ready.isEmpty,
            descriptors.registration(of: report.descriptor) == report.registration,
            descriptors.sourceCount(of: report.descriptor) == 1
        else { return nil }
        if modes[mode].timerCount > 0, let soonest = soonestQueued(in: mode), soonest <= now {
            return nil
        }
        let ticket = descriptors.source(0, of: report.descriptor)
        let poll = latestPoll.number
        let delivery: Delivery? =
            ports.modify(ticket) { record in
                guard !record.interest(in: mode).isEmpty else { return nil }
                let events = record.events(of: report)
                return events.isEmpty ? nil : record.beginCall(events, ticket)
            } ?? nil
        if delivery != nil {
            endPoll(poll, in: mode)
            expectations.recordServed(ticket, after: poll)
            if modes[mode].timerCount > 0 { modes[mode].contest.portIsAlone() }
        }
        return delivery
    }

    /// Queues an event for a port, if the mode's run can serve it and the port waits for the event.
    private mutating func queue(_ ticket: Ticket, _ report: ReadyReport, in mode: Int) -> Bool {
        let poll = latestPoll
        return ports.modify(ticket, in: &modes) { record, modes in
            guard !record.interest(in: mode).isEmpty else {
                record.confirm(report, poll: poll.number)
                return false
            }
            let events = record.events(of: report)
            guard !events.isEmpty else { return false }
            record.queue(events, poll: poll.number, at: poll.serial, in: &modes)
            return true
        } ?? false
    }

    /// Records that the driver has stopped to watch a descriptor.
    mutating func recordLoss(_ report: ReadyReport) {
        guard descriptors.registration(of: report.descriptor) == report.registration else { return }
        markUnwatched(report.descriptor)
    }
}
