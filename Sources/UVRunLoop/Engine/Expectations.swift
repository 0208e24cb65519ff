/// The ports that were served, and that only another poll finds ready again.
struct Expectations {
    /// The latest that was served; `none` if a poll was skipped since.
    ///
    /// It is one, because each pass polls, or skips a poll, before it serves a port.
    private var served = Ticket.none
    /// The number of the latest poll then.
    private var poll: Int64 = 0
    /// Those that have the turn of a skipped poll, and some that had.
    var expected: [Ticket] = []

    mutating func recordServed(_ ticket: Ticket, after poll: Int64) {
        (served, self.poll) = (ticket, poll)
    }

    /// Takes the port that was served, if a poll is still the latest one.
    mutating func takeServed(since poll: Int64) -> Ticket? {
        let taken = exchange(&served, with: .none)
        return self.poll == poll && taken != .none ? taken : nil
    }
}

extension GenericEngine {
    /// Records that a poll was skipped, which the result of an earlier one replaces.
    ///
    /// The port that was served since the poll before has its turn as if the skipped one had found
    /// it again. When it comes first, a poll tells whether it has stayed ready.
    ///
    /// - Returns: `false` if the poll may not be skipped, because the kernel has to be told what to
    ///   watch first.
    mutating func recordSkippedPoll(reusing poll: Int64, in mode: Int) -> Bool {
        guard modes[mode].unwatched.isEmpty else { return false }
        guard let ticket = expectations.takeServed(since: poll) else { return true }
        let serial = nextSerial()
        let isExpected = ports.modify(ticket, in: &modes) { record, modes in
            record.expect(at: serial, in: mode, &modes)
        }
        guard isExpected == true else { return true }
        expectations.expected.append(ticket)
        (summary.holdsExpectations, summary.mayHoldReady) = (true, true)
        return true
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
            ports.modify(descriptors.source(index, of: descriptor)) {
                $0.confirm(report, poll: poll)
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
