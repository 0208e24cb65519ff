extension UVRunLoop: CustomStringConvertible, CustomDebugStringConvertible {
    /// The loop in one line: its label, and what it is doing.
    ///
    /// > Threading: Any thread.
    public var description: String { line.text }

    /// The loop, what it is doing, and its modes with their items and next dates.
    ///
    /// Calls no handler, and waits for none: print it in a debugger, or when a program seems to
    /// hang. State that is private to the loop's own thread, such as the mode of the run, is shown
    /// on that thread only.
    ///
    /// > Threading: Any thread, and also after the loop has ended.
    ///
    /// - Complexity: O(number of items × number of modes).
    public var debugDescription: String {
        guard identity.isThisProcess else { return description }
        let now = time
        let listings = contents.withEngine { $0.listings }
        let modes = listings.flatMap { Self.lines(of: $0, now: now) }
        return ([line.text(with: self)] + modes + workLines).joined(separator: "\n")
    }

    private var line: ObjectLine {
        ObjectLine(kind: "UVRunLoop", label: ownName, facts: [activityWords])
    }

    // MARK: What it is doing

    private var activityWords: String {
        guard identity.isThisProcess else { return "of the process that forked this one" }
        if hasEnded { return "ended" }
        return ([stateWords] + runWords + calledWords + tracedWords).joined(separator: ", ")
    }

    private var stateWords: String {
        if wakeState.isAsleep { return "asleep" }
        if runState.isStoppedForGood { return "stopping" }
        return runState.isRunning ? "running" : "not running"
    }

    /// Describes the state that only the loop's own thread may read.
    private var runWords: [String] {
        guard let local = local.ifHere, let mode = mode(ofRunIn: local) else { return [] }
        let nesting = local.nestingLevel > 1 ? ["nesting level \(local.nestingLevel)"] : []
        return ["in mode \(mode.debugDescription)"] + nesting + ["pass \(local.passCount)"]
    }

    /// The timers whose handlers are running, innermost last.
    private var calledWords: [String] {
        let firing = contents.withEngine { $0.runningTimers.timers }
        return firing.map { "in the handler of \(ObjectLine(kind: "Timer", label: $0.label).text)" }
    }

    /// Describes the loop's activity and how long it lasts, while something traces it.
    private var tracedWords: [String] {
        guard LoopTracing.isOn, let word = identity.activity.object?.word else { return [] }
        let time = Duration.milliseconds(max(0, LoopActivity.coarseTime - word.began)).words
        // A run that began before the tracing leaves its last activity behind.
        let isRunning = runState.isRunning
        switch word.code {
        case TracedLoop.sleeping: return isRunning ? ["sleeping for \(time)"] : []
        case TracedLoop.passing: return isRunning ? ["between handlers for \(time)"] : []
        default:
            return HandlerKind(rawValue: word.code).map { ["in a handler (\($0)) for \(time)"] }
                ?? []
        }
    }

    private var workLines: [String] {
        let requests = performQueue.withLock { $0.count }
        let blocks = local.ifHere.map { mayHoldBlocks($0) } == true
        return (requests > 0 ? ["  perform requests: \(requests)"] : [])
            + (blocks ? ["  blocks are queued"] : [])
    }

    // MARK: The modes

    private static func lines(of listing: Engine.Listing, now: Int64) -> [String] {
        let title = "  \(listing.mode.debugDescription)\(listing.isCommon ? " (common)" : "")"
        let timers = listing.timers.map { timer, isBeingCalled in
            timer.line(isBeingCalled: isBeingCalled, now: now).text(with: timer)
        }
        let sources = listing.sources.map(\.debugDescription)
        let ports = listing.ports.map { port, isReady in
            var line = port.link.line(of: port.object)
            if isReady { line.facts.append("ready") }
            return line.text(with: port.object)
        }
        let observers = listing.observers.map(\.debugDescription)
        let items = timers + sources + ports + observers
        return [title] + (items.isEmpty ? ["    empty"] : items.map { "    \($0)" })
    }
}

extension UVRunLoop.Thread: CustomStringConvertible {
    /// The thread in one line: its label.
    ///
    /// > Threading: Any thread.
    public var description: String { ObjectLine(kind: "Thread", label: label).text }
}
