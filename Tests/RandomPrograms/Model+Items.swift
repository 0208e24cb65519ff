extension Model {
    /// 4.4: "Adding an item to `.common` records it as common and adds it to every mode of the
    /// set." "A second add and an invalid item are ignored".
    ///
    /// - Returns: Whether it joined a mode.
    @discardableResult
    func add(_ item: Int, _ mode: ModeName) -> Bool {
        guard items[item].isValid else { return false }
        // "Then the source is off until added again."
        if items[item].port.isOff { turnOn(item) }
        guard mode == .common else { return join(item, mode) }
        if !commonItems.contains(item) { commonItems.append(item) }
        return ModeName.concrete.filter(commonModes.contains).map { join(item, $0) }.contains(true)
    }

    private func turnOn(_ item: Int) {
        items[item].port.isOff = false
        items[item].port.servedAt = nil
    }

    private func join(_ item: Int, _ mode: ModeName) -> Bool {
        usedModes.insert(mode)
        guard !isIn(item, mode) else { return false }
        members[mode, default: []].append(item)
        if isPort(item) {
            latestPortAddition = nextTick()
            items[item].port.joinedAt = tick
        }
        items[item].timer.scheduled[mode] = nextTick()
        if isSource(item) { performance.note(.scheduled(item, mode)) }
        return true
    }

    /// "Removing from `.common` applies to recorded items, from each mode; removing from one mode
    /// leaves the record".
    func remove(_ item: Int, _ mode: ModeName) {
        items[item].timer.scheduledBefore = firstScheduled(item)
        guard mode == .common else { return leave(item, mode) }
        guard commonItems.contains(item) else { return }
        commonItems.removeAll { $0 == item }
        for mode in ModeName.concrete where commonModes.contains(mode) { leave(item, mode) }
    }

    private func leave(_ item: Int, _ mode: ModeName) {
        guard isIn(item, mode) else { return }
        members[mode, default: []].removeAll { $0 == item }
        if !isInAnyMode(item) {
            items[item].port.isWatched = false
            items[item].port.keptPlace = nil
        }
        if isSource(item) { performance.note(.cancelled(item, mode)) }
    }

    /// "A mode that joins later gets the recorded items".
    ///
    /// - Returns: Whether a custom source joined it.
    @discardableResult
    func addCommonMode(_ mode: ModeName) -> Bool {
        guard mode != .common, commonModes.insert(mode).inserted else { return false }
        // "Ties in order of scheduling": that of timers is the same in every mode.
        let timers = commonItems.filter(isTimer).sorted { firstScheduled($0) < firstScheduled($1) }
        let others = commonItems.filter { !isTimer($0) }
        return (others + timers).map { join($0, mode) && isSource($0) }.contains(true)
    }

    func isInAnyMode(_ item: Int) -> Bool {
        ModeName.concrete.contains { isIn(item, $0) }
    }

    /// Whether the loop keeps an item for one mode alone.
    func isOnlyIn(_ item: Int, _ mode: ModeName) -> Bool {
        let isCommon = commonItems.contains(item)
        guard mode == .common || !isCommon else { return false }
        let left = mode == .common && isCommon ? commonModes : [mode]
        return isInAnyMode(item)
            && !ModeName.concrete.contains {
                isIn(item, $0) && !left.contains($0)
            }
    }

    func invalidate(_ item: Int) {
        guard items[item].isValid else { return }
        items[item].isValid = false
        items[item].signalledAt = nil
        commonItems.removeAll { $0 == item }
        for mode in ModeName.concrete { leave(item, mode) }
    }

    func contains(_ item: Int, _ mode: ModeName) -> Bool {
        mode == .common ? commonItems.contains(item) : isIn(item, mode)
    }

    /// When a thread ends, "sources get `cancel` on the dying thread".
    func endThread() {
        for item in items.indices where isSource(item) {
            for mode in ModeName.concrete { leave(item, mode) }
        }
    }
}
