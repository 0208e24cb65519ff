extension Model {
    func carryOut(_ action: Action) {
        switch action {
        case .run(let mode, let limit, let returnsAfterSource):
            guard !performance.isOver, runs.count < Program.deepest else { return }
            run(mode, limit: limit, returnsAfterSource: returnsAfterSource)
        case .perform(let block, let modes), .performLocally(let block, let modes):
            queue(block, modes)
        case .wakeUp: wakeUp()
        case .stop: stop()
        case .pass(let time): now += time
        case .contains, .isValid, .isSignalled, .date, .nextDate, .modes:
            performance.note(.found(action, answer(action)))
        case .addCommonMode(let mode): addCommonMode(mode)
        default: change(action)
        }
        refreshReadiness()
    }

    private func change(_ action: Action) {
        switch action {
        case .add(let item, let mode): add(item, mode)
        case .remove(let item, let mode): remove(item, mode)
        case .invalidate(let item): invalidate(item)
        case .signal(let item): signal(item)
        case .setDate(let item, let delay): setDate(item, now + delay)
        case .setTolerance(let item, let tolerance):
            items[item].timer.tolerance = max(tolerance, 0)
        case .fire(let item): fireByHand(item)
        case .write(let item):
            if !items[item].port.isPeerClosed { items[item].port.bytes += 1 }
        case .drain(let item): items[item].port.bytes = 0
        case .closePeer(let item): items[item].port.isPeerClosed = true
        case .send(let item, let message): performance.note(.sent(item, send(item, message)))
        default: break
        }
    }

    /// Carries out an action of another thread while the loop sleeps.
    func visitByAnotherThread(_ action: Action) {
        switch action {
        // "Adding a source from another thread wakes the loop."
        case .add(let item, let mode): if add(item, mode), isSource(item) { wakeUp() }
        case .addCommonMode(let mode): if addCommonMode(mode) { wakeUp() }
        case .send(let item, let message): _ = send(item, message)
        default: return carryOut(action)
        }
        refreshReadiness()
    }

    /// Whether a loop that sleeps looks at its contents again after an action of another thread;
    /// asked before the action is carried out.
    ///
    /// What the library does: the contract leaves it open.
    func takesNotice(of action: Action) -> Bool {
        switch action {
        // The handler of an item that is invalidated is released on the loop's thread.
        case .invalidate(let item): items[item].isValid
        case .wakeUp, .stop, .perform: true
        case .addCommonMode(let mode): mode != .common && !commonModes.contains(mode)
        // A custom source that joins a mode wakes the loop; one that does not changes nothing. An
        // observer that has left the loop is released at once.
        case .add(let item, _), .remove(let item, _), .setDate(let item, _),
            .setTolerance(let item, _):
            isTimer(item) ? takesNotice(ofTimer: action) : takesNotice(ofOther: action)
        case .send(let item, _): isInAnyMode(item) && items[item].port.messages.isEmpty
        case .write(let item), .closePeer(let item): items[item].port.isWatched
        default: false
        }
    }

    private func takesNotice(ofOther action: Action) -> Bool {
        switch action {
        case .add(let item, _): items[item].isValid && isPort(item)
        case .remove(let item, let mode):
            items[item].isValid && (!isObserver(item) || isOnlyIn(item, mode))
        default: false
        }
    }

    /// "`stop()` ends the innermost run only and is nothing when none runs".
    private func stop() {
        if !runs.isEmpty { innermost.isStopped = true }
    }

    /// Makes the coming sleep of each run on the stack end at once: "a nested run gives back what
    /// it may have consumed".
    private func wakeUp() {
        for run in runs.indices { runs[run].isWoken = true }
    }

    private func queue(_ block: Int, _ modes: [ModeName]) {
        blocks.append(QueuedBlock(item: block, modes: modes))
        usedModes.formUnion(modes)
    }

    /// "`signal()` sets a flag … Several signals before a perform are one".
    private func signal(_ item: Int) {
        guard items[item].isValid, items[item].signalledAt == nil else { return }
        items[item].signalledAt = nextTick()
    }

    /// "Whether the message is on its way"; on the thread of the port's own loop it never waits.
    private func send(_ item: Int, _ message: Int32) -> Bool {
        guard case .port(let capacity, _) = kind(item), items[item].isValid,
            items[item].port.messages.count < capacity
        else { return false }
        items[item].port.messages.append(message)
        return true
    }

    private func answer(_ action: Action) -> String {
        switch action {
        case .contains(let item, let mode): "\(contains(item, mode))"
        case .isValid(let item): "\(items[item].isValid)"
        case .isSignalled(let item): "\(items[item].signalledAt != nil)"
        // The contract leaves open what the date of an invalid timer reads.
        case .date(let item): items[item].isValid ? "\(items[item].timer.date)" : "-"
        case .nextDate(let mode): nextDate(mode).map { "\($0)" } ?? "none"
        case .modes:
            ModeName.concrete.filter { commonModes.contains($0) || usedModes.contains($0) }
                .map { "\($0)" }.joined(separator: " ")
        default: ""
        }
    }
}
