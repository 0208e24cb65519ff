/// The ports that were served, and that only another poll finds ready again.
struct Expectations {
    /// The poll after which they were served.
    private var poll: Int64 = 0
    /// Those served since the poll or the latest skipped one.
    private(set) var served: [Ticket] = []
    /// Those that have the turn of a skipped poll, and some that had.
    var expected: [Ticket] = []

    mutating func recordServed(_ ticket: Ticket, after poll: Int64) {
        if self.poll != poll {
            self.poll = poll
            served.removeAll(keepingCapacity: true)
        }
        served.append(ticket)
    }

    /// The number of ports that were served since a poll or the latest skipped one.
    func servedCount(since poll: Int64) -> Int { self.poll == poll ? served.count : 0 }

    mutating func forgetServed() { served.removeAll(keepingCapacity: true) }
}

extension GenericEngine {
    /// Records that a poll was skipped, which the result of an earlier one replaces.
    ///
    /// The ports that were served since the poll before have their turns as if the skipped one had
    /// found them again. When one comes first, a poll tells whether it has stayed ready.
    mutating func recordSkippedPoll(reusing poll: Int64, in mode: Int) {
        let serial = nextSerial()
        for index in 0..<expectations.servedCount(since: poll) {
            let ticket = expectations.served[index]
            let isExpected = ports.modify(ticket, in: &modes) { record, modes in
                record.expect(at: serial, in: mode, &modes)
            }
            if isExpected == true { expectations.expected.append(ticket) }
        }
        expectations.forgetServed()
        if expectations.expected.isEmpty { return }
        (summary.holdsExpectations, summary.mayHoldReady) = (true, true)
    }

    /// Records what a poll that makes up for skipped ones has reported, for the sources that are
    /// expected.
    ///
    /// Everything else is left to the next poll, as if there had been none.
    mutating func recordExpected(_ report: ReadyReport) {
        let descriptor = report.descriptor
        guard descriptors.registration(of: descriptor) == report.registration else { return }
        let poll = latestPoll.number
        for index in 0..<descriptors.sourceCount(of: descriptor) {
            ports.modify(descriptors.source(index, of: descriptor), in: &modes) { record, modes in
                record.confirm(report, poll: poll, in: &modes)
            }
        }
        if report.details.contains(.stopped) { markUnwatched(descriptor) }
    }

    /// Ends the turns of ports that were expected and that a poll has not found.
    @inline(never)
    mutating func endExpectations() {
        for ticket in expectations.expected {
            ports.modify(ticket, in: &modes) { $0.endExpectation(in: &$1) }
        }
        expectations.expected.removeAll(keepingCapacity: true)
        summary.holdsExpectations = false
        updateMayHoldReady()
    }

    /// Whether a port is expected, and a poll may tell whether it is ready.
    func isExpected(_ ticket: Ticket) -> Bool { ports[ticket]?.isExpected == true }
}
