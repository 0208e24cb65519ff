/// The number and the time of the latest poll, and what happened since that another one would have
/// found.
struct PollStamp {
    private(set) var number: Int64 = 0
    private(set) var serial: UInt64 = 0
    /// The serial number of the previous poll.
    private var previous: UInt64 = 0
    /// The first port that was served since and that only a poll can find ready again.
    private var firstServed: Ticket?
    /// Whether there was another such port.
    private var servedSeveral = false
    /// The serial number of the first poll that was skipped after such a port was served; zero if
    /// none was.
    private var firstSkipped: UInt64 = 0
    /// The serial number of the last skipped poll.
    private var lastSkipped: UInt64 = 0

    mutating func begin(_ number: Int64, at serial: UInt64) {
        self.number = number
        (previous, self.serial) = (self.serial, serial)
        (firstServed, servedSeveral, firstSkipped) = (nil, false, 0)
    }

    /// Records that a port was served that only a poll can find ready again.
    mutating func recordServed(_ ticket: Ticket) {
        guard let firstServed else { return firstServed = ticket }
        if firstServed != ticket { servedSeveral = true }
    }

    /// Whether a poll could find another port ready again than the one to be served.
    func hasServed(otherThan ticket: Ticket) -> Bool {
        servedSeveral || (firstServed != nil && firstServed != ticket)
    }

    /// Records that a poll was skipped.
    mutating func skip(at serial: UInt64) {
        lastSkipped = serial
        if firstServed != nil, firstSkipped == 0 { firstSkipped = serial }
    }

    /// Whether a port's turn comes before those of all ports that the skipped polls may have found
    /// ready again.
    func isBeforeSkipped(_ ticket: Ticket, _ turn: Turn) -> Bool {
        firstSkipped == 0 || turn.rank < Int64(firstSkipped) || !hasServed(otherThan: ticket)
    }

    /// Whether a skipped poll would have found a served port ready again.
    ///
    /// The port is then queued as if that poll had happened. One that was never served, with
    /// a number above all others, cannot have stayed ready.
    func wouldHaveFound(servedAt: UInt64) -> Bool { previous < servedAt && servedAt < lastSkipped }
}
