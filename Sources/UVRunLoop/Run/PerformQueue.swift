/// The perform requests of a loop, in the order in which they were made.
///
/// A request waits for the modes that it names, `.common` included, or for its timer.
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
            _ target: Target?,
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
        /// The latest pass that had begun when it was made, if only one that began later may
        /// perform it.
        fileprivate(set) var since: UInt64?
    }

    /// The object and the key by which a request can be cancelled.
    struct Target: Sendable {
        let identity: ObjectIdentifier
        /// Retains the object, so that its identity is not reused; it need not be `Sendable`.
        let retained: any Sendable
        let key: (any Hashable & Sendable)?
        /// Computed while no lock is held, because hashing a key calls user code.
        let keyHash: Int

        /// Creates the target of a request; `nil` if it has none.
        init?(
            _ object: AnyObject?,
            retaining retained: (any Sendable)?,
            _ key: (any Hashable & Sendable)?
        ) {
            guard let object, let retained else { return nil }
            (identity, self.retained, self.key) = (ObjectIdentifier(object), retained, key)
            keyHash = Self.hash(of: key)
        }

        init?(_ object: (any AnyObject & Sendable)?, _ key: (any Hashable & Sendable)?) {
            self.init(object, retaining: object, key)
        }

        static func hash(of key: (any Hashable & Sendable)?) -> Int {
            key.map { AnyHashable($0).hashValue } ?? 0
        }
    }

    private var requests = ModeQueue<Request>()
    private var byTarget: [ObjectIdentifier: [Int: Set<Ticket>]] = [:]
    /// Threads that wait for requests being performed, innermost last.
    private var performing: [any PerformWaiter] = []
    /// The source of the queued requests; created with the first of them.
    var source: UVRunLoop.Source?
    private(set) var isClosed = false

    /// The number of the latest request.
    var serial: UInt64 { requests.serial }
    /// The number of requests queued for modes, without delayed ones.
    var count: Int { requests.count }

    // MARK: In

    /// Queues a request; returns the modes for which it is the only one.
    mutating func insert(_ content: Content) -> (ticket: Ticket, joined: [UVRunLoop.Mode]) {
        let joined = content.modes.filter { !holdsRequest(for: $0) }
        let ticket = register(Request(content: content), for: content.modes)
        return (ticket, joined)
    }

    /// Stores a delayed request.
    ///
    /// - Parameters:
    ///   - content: The request.
    ///   - pass: The latest pass that must not perform it.
    ///   - timer: Creates the timer for a ticket.
    /// - Returns: The ticket, and the timer, to be added to the loop while no lock is held.
    mutating func insert(
        _ content: Content,
        after pass: UInt64?,
        timer: (Ticket) -> UVRunLoop.Timer
    ) -> (ticket: Ticket, timer: UVRunLoop.Timer) {
        let ticket = register(Request(content: content, since: pass), for: [])
        let timer = timer(ticket)
        requests.modify(ticket) { $0.timer = timer }
        return (ticket, timer)
    }

    private mutating func register(_ request: Request, for modes: [UVRunLoop.Mode]) -> Ticket {
        // Nearly all are for one mode, which needs no array of numbers.
        let ticket =
            modes.count == 1
            ? requests.insert(request, for: modes[0].number)
            : requests.insert(request, for: modes.map(\.number))
        if let target = request.content.target {
            byTarget[target.identity, default: [:]][target.keyHash, default: []].insert(ticket)
        }
        return ticket
    }

    // MARK: Out

    /// A request that was removed, and the modes for which no other is queued.
    struct Removed: Sendable {
        let request: Request
        let left: [UVRunLoop.Mode]
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
    ) -> Removed? {
        guard let next = requests.oldest(for: mode.number, isCommon: isCommon),
            next.serial <= limit, let taken = remove(next.ticket)
        else { return nil }
        if let waiter = taken.request.content.waiter { performing.append(waiter) }
        return taken
    }

    /// Ends the performing of a request.
    mutating func didPerform(_ waiter: any PerformWaiter) {
        performing.removeAll { $0 === waiter }
    }

    /// Removes a request, if it was not performed or cancelled.
    mutating func remove(_ ticket: Ticket) -> Removed? {
        guard let request = requests.remove(ticket) else { return nil }
        if let target = request.content.target { forget(ticket, of: target) }
        let isDelayed = request.timer != nil
        let left = isDelayed ? [] : request.content.modes.filter { !holdsRequest(for: $0) }
        return Removed(request: request, left: left)
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
        requests: [Request], performing: [any PerformWaiter], source: UVRunLoop.Source?
    ) {
        isClosed = true
        let result = (requests.removeAll(), performing, source)
        (byTarget, performing, source) = ([:], [], nil)
        return result
    }

    // MARK: Questions

    subscript(ticket: Ticket) -> Request? { requests[ticket] }

    func holds(_ ticket: Ticket) -> Bool { requests.holds(ticket) }

    /// Whether a request is queued that names the mode, which may be `.common`.
    func holdsRequest(for mode: UVRunLoop.Mode) -> Bool {
        requests.holdsItem(for: mode.number, isCommon: false)
    }

    /// Returns a target's requests and their keys, optionally only those with a key hash.
    func requests(
        of target: ObjectIdentifier,
        keyHash: Int? = nil
    ) -> [(ticket: Ticket, key: (any Hashable & Sendable)?)] {
        guard let byKey = byTarget[target] else { return [] }
        let tickets = keyHash.map { Array(byKey[$0] ?? []) } ?? byKey.values.flatMap(\.self)
        return tickets.sorted { requests.serial(of: $0) ?? 0 < requests.serial(of: $1) ?? 0 }
            .map { ($0, requests[$0]?.content.target?.key) }
    }
}

/// A thread that waits for the end of a request.
protocol PerformWaiter: AnyObject, Sendable {
    /// Ends the wait with an error, unless it has ended.
    func giveUp(_ error: UVRunLoop.PerformError)
}
