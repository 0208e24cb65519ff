/// The latest poll that counts, and what happened since that another one would have found.
///
/// One counts that has found something, or was made while a port of its mode was ready.
struct PollStamp {
    private(set) var number: Int64 = 0
    private(set) var serial: UInt64 = 0
    /// The first port that was served since and that only a poll can find ready again.
    private var firstServed: Ticket?
    /// Whether there was another such port.
    private var servedSeveral = false
    /// The serial number of the first poll that was skipped after such a port was served; zero if
    /// none was.
    private var firstSkipped: UInt64 = 0
    /// The polls that were skipped last.
    private var skipped = SkippedPolls()

    /// Polls of a mode that were skipped one after the other, each replaced by the same result.
    private struct SkippedPolls {
        /// The number of the poll that had the result.
        var poll: Int64 = 0
        var mode = 0
        /// The serial number of the first one.
        var first: UInt64 = 0
        /// The serial number of the last one; zero if there is none.
        var last: UInt64 = 0
    }

    mutating func begin(_ number: Int64, at serial: UInt64) {
        // A poll since then, which does not count, has found nothing of what they would have found.
        if skipped.last != 0, skipped.poll != number - 1 { skipped = SkippedPolls() }
        self.number = number
        self.serial = serial
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

    /// Records that a poll of a mode was skipped.
    ///
    /// - Parameters:
    ///   - poll: The number of the poll whose result replaces it.
    ///   - mode: The mode.
    ///   - serial: The serial number.
    /// - Returns: Whether it may have found a port ready again that was served.
    mutating func skip(reusing poll: Int64, in mode: Int, at serial: UInt64) -> Bool {
        if skipped.poll != poll { skipped = SkippedPolls(poll: poll, mode: mode, first: serial) }
        skipped.last = serial
        if firstServed != nil, firstSkipped == 0 { firstSkipped = serial }
        return firstServed != nil && number == poll
    }

    /// Whether a port's turn comes before those of all ports that the skipped polls may have found
    /// ready again.
    func isBeforeSkipped(_ ticket: Ticket, _ turn: Turn) -> Bool {
        firstSkipped == 0 || turn.rank < Int64(firstSkipped) || !hasServed(otherThan: ticket)
    }

    /// Where a served port is queued that this poll has found ready: where the first skipped poll
    /// since would have queued it, if it has stayed ready.
    ///
    /// Whether it has, no poll tells; there was none since it was served.
    ///
    /// - Parameters:
    ///   - servedAt: When the port was served.
    ///   - poll: The latest poll then.
    ///   - isInMode: Whether the port is in a mode, to whose polls it matters.
    /// - Returns: The serial number, which is this poll's own if none was skipped.
    func place(servedAt: UInt64, after poll: Int64, ifIn isInMode: (Int) -> Bool) -> UInt64 {
        guard skipped.poll == poll, servedAt < skipped.last, isInMode(skipped.mode) else {
            return serial
        }
        return max(servedAt, skipped.first)
    }
}
