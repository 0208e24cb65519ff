/// The model's state of a port-based source.
struct PortState {
    // A port in this process.
    var messages: [Int32] = []

    // A descriptor source, and the pipe it watches an end of.
    var bytes = 0
    var isPeerClosed = false
    /// Whether the kernel tells the loop when it is ready: from the first poll in one of its modes
    /// on, until a poll in another mode finds it ready.
    var isWatched = false
    /// Whether a hang-up was delivered since the source was added last.
    var isOff = false

    /// Since when the source has been ready; `nil` when it is not.
    var readySince: Int?
    /// By when the loop has found it ready.
    var foundAt: Int?
    var foundEvents: UInt8 = 0
    /// When its handler was called last, until it has been seen not to be ready.
    var servedAt: Int?
    /// When its handler was called last.
    var latestCall = 0
    /// The place that a poll which was left out would have given it; `nil` for none.
    var keptPlace: Int?
}

extension Model {
    static let readable: UInt8 = 1
    static let writable: UInt8 = 2
    static let hangUp: UInt8 = 4

    /// The ready events of a descriptor: "an error or hang-up is delivered once, as every event
    /// asked for plus `.hangUp`", and "only after the data is read".
    private func events(_ item: Int) -> UInt8 {
        let port = items[item].port
        switch kind(item) {
        case .reader:
            if port.bytes > 0 { return Self.readable }
            return port.isPeerClosed ? Self.readable | Self.hangUp : 0
        case .writer:
            return port.isPeerClosed ? Self.writable | Self.hangUp : Self.writable
        default: return 0
        }
    }

    private func isReady(_ item: Int) -> Bool {
        let port = items[item].port
        guard items[item].isValid, !items[item].isOnStack, !port.isOff else { return false }
        guard isInAnyMode(item) else { return false }
        if case .port = kind(item) { return !port.messages.isEmpty }
        return events(item) != 0
    }

    private func isPortInThisProcess(_ item: Int) -> Bool {
        if case .port = kind(item) { true } else { false }
    }

    /// Takes down which ports have become ready, and which are so no longer.
    func refreshReadiness() {
        let tick = nextTick()
        for item in items.indices where isPort(item) {
            guard isReady(item) else {
                items[item].port.readySince = nil
                items[item].port.foundAt = nil
                if !items[item].isOnStack { items[item].port.servedAt = nil }
                continue
            }
            guard items[item].port.readySince == nil else { continue }
            // The contract leaves open whether a port that stays ready is ready again when its
            // handler is called or when it has returned.
            items[item].port.readySince = items[item].port.servedAt ?? tick
            items[item].port.servedAt = nil
            if isPortInThisProcess(item) { items[item].port.foundAt = tick }
        }
    }

    /// Asks the kernel which of the mode's descriptors are ready.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - poll: The poll.
    ///   - mayWatch: Whether the kernel is told of new ones before.
    /// - Returns: Whether one was found that was not before.
    @discardableResult
    func poll(_ mode: ModeName, _ poll: Poll, mayWatch: Bool = true) -> Bool {
        refreshReadiness()
        guard !isLeftOut(poll) else {
            keepPlaces(mode)
            return false
        }
        var hasFound = false
        let tick = nextTick()
        latestPoll = tick
        for item in items.indices where isPort(item) {
            // The hang-up that has turned it off is reported to nobody.
            if items[item].port.isOff { items[item].port.isWatched = false }
            if mayWatch, isIn(item, mode), !items[item].port.isOff {
                items[item].port.isWatched = true
            }
            let place = items[item].port.keptPlace.take()
            guard items[item].port.isWatched, let since = items[item].port.readySince,
                items[item].port.foundAt == nil
            else { continue }
            if isIn(item, mode) {
                items[item].port.foundAt = place ?? tick
                items[item].port.readySince = min(since, place ?? since)
                items[item].port.foundEvents = events(item)
                hasFound = true
            } else {
                items[item].port.isWatched = false
            }
        }
        return hasFound
    }

    /// Leaves a poll out: a source that was served since the poll before "keeps the place that it
    /// would have had".
    private func keepPlaces(_ mode: ModeName) {
        for item in members[mode, default: []]
        where isPort(item) && items[item].port.latestCall > latestPoll {
            items[item].port.keptPlace = items[item].port.latestCall
        }
    }

    /// Those of the mode that were found ready.
    ///
    /// "A port source whose handler is on the stack is not
    /// served by a nested run".
    func readyPorts(_ mode: ModeName) -> [Int] {
        members[mode, default: []].filter { isPort($0) && items[$0].port.foundAt != nil }
    }

    /// Delivers one event of one source.
    func serveNextPort(_ mode: ModeName) {
        let ready = readyPorts(mode)
        let next = ready.filter { port in !ready.contains { comes($0, before: port) } }
        // The contract leaves open which of several ports is the first when they became ready
        // before one poll.
        serve(next.first { $0 == observedPort } ?? next[0])
    }

    /// "First come, first served", and "among those found ready by one poll, `order` decides".
    private func comes(_ first: Int, before second: Int) -> Bool {
        guard let found = items[first].port.foundAt, let since = items[second].port.readySince
        else { return false }
        if found < since { return true }
        return items[second].port.foundAt == found && portOrder(first) < portOrder(second)
            && !isPortInThisProcess(first) && !isPortInThisProcess(second)
    }

    private func portOrder(_ item: Int) -> Int {
        switch kind(item) {
        case .reader(let order), .writer(let order), .port(_, let order): order
        default: 0
        }
    }

    private var observedPort: Int? {
        switch observedNext {
        case .served(let item, _, _), .received(let item, _, _): item
        default: nil
        }
    }

    private func serve(_ item: Int) {
        let found = items[item].port.foundEvents
        items[item].port.readySince = nil
        items[item].port.foundAt = nil
        items[item].port.servedAt = nextTick()
        items[item].port.latestCall = tick
        if isPortInThisProcess(item) {
            let message = items[item].port.messages.removeFirst()
            callOut(to: item, .received(item, message: message, place))
            return
        }
        var current = events(item)
        // The contract leaves open whether what the source is told is what was found or what holds
        // when it is told.
        if case .served(item, let events, _) = observedNext, events == found { current = found }
        // "Then the source is off until added again."
        if current & Self.hangUp != 0 { items[item].port.isOff = true }
        callOut(to: item, .served(item, events: current, place))
    }
}
