/// The perform requests of a loop, in the order in which they were made.
///
/// A request is queued for every mode it names, `.common` included, or waits for its timer. The
/// first run that serves one of its modes takes it; its entries for other modes are then skipped.
struct PerformQueue: ~Copyable {
    /// The immutable part of a request.
    ///
    /// An object, so that a request is cheap to copy.
    final class Content: Sendable {
        let body: Block
        let modes: [UVRunLoop.Mode]
        let target: Target?
        /// The thread that waits for the end of the request.
        let waiter: (any PerformWaiter)?

        init(
            _ modes: [UVRunLoop.Mode],
            target: Target?,
            waiter: (any PerformWaiter)? = nil,
            _ body: @escaping Block
        ) {
            self.body = body
            self.modes = modes
            self.target = target
            self.waiter = waiter
        }
    }

    /// A queued or delayed request.
    struct Request: Sendable {
        let content: Content
        /// The timer of a delayed request.
        fileprivate(set) var timer: UVRunLoop.Timer?
        /// The pass in which it was made, if that pass must not perform it.
        fileprivate(set) var pass: UInt64?
        fileprivate let serial: UInt64
    }

    /// The object and the key by which a request can be cancelled.
    struct Target: Sendable {
        let identity: ObjectIdentifier
        /// Retains the object, so that its identity is not reused.
        let object: any Sendable
        let key: (any Hashable & Sendable)?
        /// Computed while no lock is held, because hashing a key calls user code.
        let keyHash: Int

        init(
            identity: ObjectIdentifier,
            object: any Sendable,
            key: (any Hashable & Sendable)?
        ) {
            (self.identity, self.object, self.key) = (identity, object, key)
            keyHash = Self.hash(of: key)
        }

        static func hash(of key: (any Hashable & Sendable)?) -> Int {
            key.map { AnyHashable($0).hashValue } ?? 0
        }
    }

    private struct Entry {
        var serial: UInt64
        var ticket: Ticket
    }

    private struct Line {
        let mode: UVRunLoop.Mode
        var entries: [Entry] = []
        /// Entries before this index are finished.
        var first = 0
        /// The number of entries whose requests are still queued.
        var live = 0

        /// Removes finished entries if they are the majority.
        mutating func compact(_ requests: borrowing SlotMap<Request>) {
            guard entries.count > 2 * live + 16 else { return }
            entries.removeAll { !requests.holds($0.ticket) }
            first = 0
        }
    }

    private var requests = SlotMap<Request>()
    private var lines: [Line] = []
    private var numbers = ModeNumbers()
    private var byTarget: [ObjectIdentifier: [Int: Set<Ticket>]] = [:]
    /// Threads that wait for requests being performed, innermost last.
    private var performing: [any PerformWaiter] = []
    /// The source of the queued requests; created with the first of them.
    var source: UVRunLoop.Source?
    private(set) var isClosed = false
    /// The number of the latest request.
    private(set) var serial: UInt64 = 0
    /// The number of requests queued for modes, without delayed ones.
    private(set) var count = 0

    // MARK: In

    /// Queues a request; returns the modes for which it is the only one.
    mutating func insert(_ content: Content) -> (ticket: Ticket, joined: [UVRunLoop.Mode]) {
        let ticket = register(content)
        count += 1
        var joined: [UVRunLoop.Mode] = []
        for mode in content.modes {
            let line = line(of: mode)
            if lines[line].live == 0 { joined.append(mode) }
            lines[line].entries.append(Entry(serial: serial, ticket: ticket))
            lines[line].live += 1
        }
        return (ticket, joined)
    }

    /// Stores a delayed request.
    ///
    /// - Parameters:
    ///   - content: The request.
    ///   - pass: The pass that must not perform it.
    ///   - timer: Creates the timer for a ticket.
    /// - Returns: The ticket, and the timer, to be added to the loop while no lock is held.
    mutating func insert(
        _ content: Content,
        notInPass pass: UInt64?,
        timer: (Ticket) -> UVRunLoop.Timer
    ) -> (ticket: Ticket, timer: UVRunLoop.Timer) {
        let ticket = register(content)
        let timer = timer(ticket)
        requests.modify(ticket) { ($0.timer, $0.pass) = (timer, pass) }
        return (ticket, timer)
    }

    /// Gives a delayed request another timer; the pass in which that fires performs it.
    mutating func postpone(_ ticket: Ticket, to timer: UVRunLoop.Timer) {
        requests.modify(ticket) { ($0.timer, $0.pass) = (timer, nil) }
    }

    private mutating func register(_ content: Content) -> Ticket {
        serial += 1
        let ticket = requests.insert(Request(content: content, serial: serial))
        if let target = content.target {
            byTarget[target.identity, default: [:]][target.keyHash, default: []].insert(ticket)
        }
        return ticket
    }

    /// Returns the index of a mode's line, which is created if necessary.
    private mutating func line(of mode: UVRunLoop.Mode) -> Int {
        if let index = numbers.index(of: mode.number) { return index }
        lines.append(Line(mode: mode))
        return numbers.insert(mode.number)
    }

    // MARK: Out

    /// A request that was removed, and the modes for which no other is queued.
    struct Taken: Sendable {
        let content: Content
        let timer: UVRunLoop.Timer?
        var left: [UVRunLoop.Mode] = []
    }

    /// Takes the oldest request that may run in the mode.
    ///
    /// - Parameters:
    ///   - mode: The mode of the run.
    ///   - isCommon: Whether it is a common mode.
    ///   - limit: The number of the last request that may be taken.
    /// - Returns: The request; `nil` if there is none for the mode.
    mutating func takeNext(
        for mode: UVRunLoop.Mode,
        isCommon: Bool,
        upTo limit: UInt64
    ) -> Taken? {
        var next = firstEntry(in: mode.number)
        if isCommon, let other = firstEntry(in: UVRunLoop.Mode.common.number) {
            if other.serial < next?.serial ?? .max { next = other }
        }
        guard let next, next.serial <= limit, let taken = remove(next.ticket) else { return nil }
        if let waiter = taken.content.waiter { performing.append(waiter) }
        return taken
    }

    /// Ends the performing of a request.
    mutating func didPerform(_ waiter: any PerformWaiter) {
        performing.removeAll { $0 === waiter }
    }

    private mutating func firstEntry(in number: Int) -> Entry? {
        guard let index = numbers.index(of: number) else { return nil }
        while lines[index].first < lines[index].entries.count {
            let entry = lines[index].entries[lines[index].first]
            if requests.holds(entry.ticket) { return entry }
            lines[index].first += 1
        }
        lines[index].entries.removeAll(keepingCapacity: true)
        lines[index].first = 0
        return nil
    }

    /// Removes a request, if it was not performed or cancelled.
    mutating func remove(_ ticket: Ticket) -> Taken? {
        guard let request = requests.remove(ticket) else { return nil }
        if let target = request.content.target { forget(ticket, of: target) }
        var taken = Taken(content: request.content, timer: request.timer)
        guard request.timer == nil else { return taken }
        count -= 1
        for mode in request.content.modes {
            let line = line(of: mode)
            lines[line].live -= 1
            if lines[line].live == 0 { taken.left.append(mode) }
            lines[line].compact(requests)
        }
        return taken
    }

    private mutating func forget(_ ticket: Ticket, of target: Target) {
        byTarget[target.identity]?[target.keyHash]?.remove(ticket)
        if byTarget[target.identity]?[target.keyHash]?.isEmpty == true {
            byTarget[target.identity]?[target.keyHash] = nil
        }
        if byTarget[target.identity]?.isEmpty == true { byTarget[target.identity] = nil }
    }

    /// Closes the queue; returns its requests, and the threads that wait for requests being
    /// performed.
    mutating func close() -> (
        requests: [Taken], performing: [any PerformWaiter], source: UVRunLoop.Source?
    ) {
        isClosed = true
        let remains = requests.tickets.compactMap { requests.remove($0) }
        let taken = remains.sorted { $0.serial < $1.serial }
            .map { Taken(content: $0.content, timer: $0.timer) }
        let result = (taken, performing, source)
        (lines, numbers, byTarget) = ([], ModeNumbers(), [:])
        (performing, source, count) = ([], nil, 0)
        return result
    }

    // MARK: Questions

    subscript(ticket: Ticket) -> Request? { requests[ticket] }

    func holds(_ ticket: Ticket) -> Bool { requests.holds(ticket) }

    /// Returns the modes with queued requests that a removal from other modes also affects, because
    /// `.common` and the common modes overlap.
    func modesToKeep(leaving modes: [UVRunLoop.Mode]) -> [UVRunLoop.Mode] {
        guard count > 0 else { return [] }
        guard !modes.contains(.common) else {
            return lines.filter { $0.live > 0 }.map(\.mode)
        }
        let common = numbers.index(of: UVRunLoop.Mode.common.number)
        return common.map { lines[$0].live > 0 } == true ? [.common] : []
    }

    /// Returns a target's requests and their keys, optionally only those with a key hash.
    func requests(
        of target: ObjectIdentifier,
        keyHash: Int? = nil
    ) -> [(ticket: Ticket, key: (any Hashable & Sendable)?)] {
        guard let byKey = byTarget[target] else { return [] }
        let tickets = keyHash.map { Array(byKey[$0] ?? []) } ?? byKey.values.flatMap(\.self)
        return tickets.compactMap { ticket in requests[ticket].map { (ticket, $0) } }
            .sorted { $0.1.serial < $1.1.serial }
            .map { ($0.0, $0.1.content.target?.key) }
    }
}

/// A thread that waits for the end of a request.
protocol PerformWaiter: AnyObject, Sendable {
    /// Ends the wait with an error, unless it has ended.
    func giveUp(_ error: UVRunLoop.PerformError)
}
