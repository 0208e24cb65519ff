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

    /// Since when the source has been ready, as far as polls tell; `nil` when it is not.
    var readySince: Int?
    /// By when the loop has found it ready: its place in the line, until it is served or a poll
    /// does not find it.
    var foundAt: Int?
    var foundEvents: UInt8 = 0
    /// The latest poll that found it ready.
    var foundByPoll = 0
    /// When it joined a mode last.
    var joinedAt = 0
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
        guard mayBecomeReady(item) else { return false }
        return isPortInThisProcess(item)
            ? !items[item].port.messages.isEmpty : events(item) != 0
    }

    private func mayBecomeReady(_ item: Int) -> Bool {
        items[item].isValid && !items[item].isOnStack && !items[item].port.isOff
            && isInAnyMode(item)
    }

    private func isPortInThisProcess(_ item: Int) -> Bool {
        if case .port = kind(item) { true } else { false }
    }

    /// Takes down which ports have become ready, and which are so no longer.
    ///
    /// "Readiness may have been used up meanwhile": of a descriptor that was found ready only
    /// another poll tells that.
    func refreshReadiness() {
        let tick = nextTick()
        for item in items.indices where isPort(item) {
            guard isReady(item) else {
                let isThoughtReady = mayBecomeReady(item) && items[item].port.foundAt != nil
                if !isThoughtReady || isPortInThisProcess(item) { endReadiness(item) }
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

    private func endReadiness(_ item: Int) {
        items[item].port.readySince = nil
        items[item].port.foundAt = nil
        if !items[item].isOnStack { items[item].port.servedAt = nil }
    }

    /// Polls without waiting, unless the poll is left out.
    func poll(_ mode: ModeName, _ poll: Poll) {
        refreshReadiness()
        if isLeftOut(poll) { keepPlaces(mode) } else { askKernel(mode) }
    }

    /// Asks the kernel which of the mode's descriptors are ready.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - mayWatch: Whether the kernel is told of new ones before.
    /// - Returns: Whether one was found that was not before.
    @discardableResult
    func askKernel(_ mode: ModeName, mayWatch: Bool = true) -> Bool {
        refreshReadiness()
        var hasFound = false
        let tick = nextTick()
        latestPoll = tick
        innermost.found = []
        innermost.latestPoll = RunPoll(
            time: now,
            pass: innermost.passes,
            tick: tick,
            toldTick: mayWatch ? tick : innermost.latestPoll?.toldTick ?? 0
        )
        for item in items.indices where isPort(item) {
            // The hang-up that has turned it off is reported to nobody.
            if items[item].port.isOff { items[item].port.isWatched = false }
            let isServable = isIn(item, mode) && mayBecomeReady(item)
            if mayWatch, isServable { items[item].port.isWatched = true }
            let place = items[item].port.keptPlace.take()
            guard items[item].port.isWatched, !isPortInThisProcess(item) else { continue }
            if !isServable {
                if place != nil, mayBecomeReady(item) { find(item, at: tick, place) }
                if events(item) != 0 { items[item].port.isWatched = false }
            } else if find(item, at: tick, place) {
                hasFound = true
            }
        }
        return hasFound
    }

    /// Has a poll find a descriptor of its mode, or not.
    ///
    /// - Returns: Whether it is ready and was not found before.
    @discardableResult
    private func find(_ item: Int, at tick: Int, _ place: Int?) -> Bool {
        guard isReady(item), let since = items[item].port.readySince else {
            endReadiness(item)
            return false
        }
        items[item].port.foundEvents = events(item)
        items[item].port.foundByPoll = tick
        innermost.found.append(item)
        guard items[item].port.foundAt == nil else { return false }
        items[item].port.foundAt = place ?? tick
        items[item].port.readySince = min(since, place ?? since)
        return true
    }

    /// Leaves a poll out: a source that was served since the poll before gets the place that the
    /// poll would have given it, if the next one finds it.
    ///
    /// What the library does, which cannot know whether the source was ready at that time.
    private func keepPlaces(_ mode: ModeName) {
        let tick = nextTick()
        for item in members[mode, default: []]
        where isPort(item) && !isPortInThisProcess(item) && mayBecomeReady(item)
            && items[item].port.latestCall > latestPoll
        {
            guard items[item].port.keptPlace == nil else { continue }
            items[item].port.keptPlace = tick
        }
    }

    /// Makes up for polls that were left out: before a run of another mode begins, and when the run
    /// ends.
    ///
    /// Of the sources that were served, those that are ready get their places; nothing else is
    /// found.
    func makeUpForLeftOutPolls() {
        guard items.contains(where: { $0.port.keptPlace != nil }) else { return }
        refreshReadiness()
        let tick = nextTick()
        latestPoll = tick
        for item in items.indices {
            guard let place = items[item].port.keptPlace.take(), mayBecomeReady(item) else {
                continue
            }
            find(item, at: tick, place)
        }
    }

    /// Those of the mode that the run's latest poll has found ready, or one of a nested run since.
    ///
    /// "A port source whose handler is on the stack is not
    /// served by a nested run".
    func readyPorts(_ mode: ModeName) -> [Int] {
        let latest = innermost.latestPoll?.tick ?? .max
        return members[mode, default: []].filter { item in
            isPort(item) && items[item].port.foundAt != nil
                && (isPortInThisProcess(item) || items[item].port.foundByPoll >= latest)
        }
    }

    /// The source to deliver one event of.
    ///
    /// The contract leaves open whether the polls of runs that were nested between this run's poll
    /// and its event count: "after a nested run the outer one goes on exactly where it was"; and
    /// whether one is served that has joined the mode since the poll, or during the sleep that it
    /// has ended, and that a poll of another mode has found ready.
    func nextPort(_ mode: ModeName) -> Int? {
        let latest = innermost.latestPoll?.tick ?? .max
        let told = innermost.latestPoll?.toldTick ?? .max
        let all = readyPorts(mode)
        let own = all.filter {
            isPortInThisProcess($0) || items[$0].port.foundByPoll == latest
        }
        let lost = innermost.found.filter {
            items[$0].port.foundAt == nil && mayBecomeReady($0) && isIn($0, mode)
                && items[$0].port.latestCall < latest
        }
        // The contract leaves open which of several ports is the first when they became ready
        // before one poll.
        let joined = members[mode, default: []].filter {
            isPort($0) && items[$0].port.foundAt != nil && items[$0].port.joinedAt > told
        }
        let candidates =
            firstOnes(of: own) + firstOnes(of: all) + lost + firstOnes(of: all + joined)
        return candidates.first { $0 == observedPort } ?? firstOnes(of: own).first
    }

    private func firstOnes(of ready: [Int]) -> [Int] {
        ready.filter { port in !ready.contains { comes($0, before: port) } }
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

    /// Delivers one event of one source.
    func serve(_ item: Int) {
        let found = items[item].port.foundEvents
        items[item].port.readySince = nil
        items[item].port.foundAt = nil
        items[item].port.servedAt = nextTick()
        items[item].port.latestCall = tick
        items[item].port.keptPlace = nil
        if isPortInThisProcess(item) {
            let message = items[item].port.messages.removeFirst()
            callOut(to: item, .received(item, message: message, place))
            return
        }
        var current = events(item)
        // The contract leaves open whether what the source is told is what was found or what holds
        // when it is told.
        if case .served(item, let events, _) = observedNext, events == found { current = found }
        // "Handlers are told to expect `EAGAIN`": its data was read after the poll.
        if current == 0 { current = found }
        // "Then the source is off until added again."
        if current & Self.hangUp != 0 { items[item].port.isOff = true }
        callOut(to: item, .served(item, events: current, place))
    }
}
