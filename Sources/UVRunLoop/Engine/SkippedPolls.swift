/// The polls that were skipped because the result of one has replaced them, and what they may have
/// found.
///
/// They are those of the innermost run since its latest poll: before a run of another mode begins in
/// it, and when it ends, a poll makes up for them.
struct SkippedPolls {
    /// The number of the poll that has replaced them.
    private var poll: Int64 = 0
    /// Their serial numbers, ascending, of those after a port was served.
    private var serials: [UInt64] = []
    /// The first port that was served since the poll and that only another one can find ready again.
    private var firstServed: Ticket?
    /// Whether there was another such port.
    private var servedSeveral = false

    var isEmpty: Bool { serials.isEmpty }

    /// Records that a port was served that only a poll can find ready again.
    @inline(__always)
    mutating func recordServed(_ ticket: Ticket, after poll: Int64) {
        if self.poll != poll { (self.poll, firstServed, servedSeveral) = (poll, nil, false) }
        guard let firstServed else { return firstServed = ticket }
        if firstServed != ticket { servedSeveral = true }
    }

    /// Records that a poll was skipped, if it may have found a port ready again.
    mutating func skip(reusing poll: Int64, at serial: UInt64) {
        guard self.poll == poll, firstServed != nil else { return }
        serials.append(serial)
    }

    /// Forgets them and what was served since their poll, because of another one.
    @inline(__always)
    mutating func removeAll() {
        (firstServed, servedSeveral) = (nil, false)
        if !serials.isEmpty { serials.removeAll(keepingCapacity: true) }
    }

    /// Whether, after a poll, the next one could find another port ready again than the one to be
    /// served.
    func hasServed(otherThan ticket: Ticket, since poll: Int64) -> Bool {
        self.poll == poll && (servedSeveral || (firstServed != nil && firstServed != ticket))
    }

    /// Whether a port's turn comes before those of all ports that they may have found ready again.
    func areAfter(_ ticket: Ticket, _ turn: Turn) -> Bool {
        guard let first = serials.first else { return true }
        return turn.rank < Int64(first) || !hasServed(otherThan: ticket, since: poll)
    }

    /// Returns the serial number of the first one that would have found a served port ready again,
    /// if it has stayed ready.
    ///
    /// - Parameters:
    ///   - servedAt: When the port was served.
    ///   - poll: The latest poll then.
    /// - Returns: `nil` if there is none.
    func first(after servedAt: UInt64, since poll: Int64) -> UInt64? {
        guard self.poll == poll, let last = serials.last, last > servedAt else { return nil }
        var range = serials.indices
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            let isInLower = serials[middle - 1] > servedAt
            range = isInLower ? range.lowerBound..<middle : middle..<range.upperBound
        }
        return serials[range.lowerBound]
    }
}
