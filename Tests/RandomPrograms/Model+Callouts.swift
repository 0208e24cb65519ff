extension Model {
    /// Tells the mode's observers: 4.7.
    ///
    /// "Ordered by `order`, ties by insertion. A notification works on the list as it was when
    /// it began: one added meanwhile is not called, one invalidated is not, one merely removed is".
    func notify(_ moment: Moment) {
        let list = members[innermost.mode, default: []].filter { item in
            guard case .observer(let activities, _, _) = kind(item) else { return false }
            // "An observer on the stack is not called again by a nested run."
            return activities & moment.rawValue != 0 && !items[item].isOnStack
        }
        for item in stablySorted(list, by: observerOrder) where items[item].isValid {
            guard !items[item].isOnStack else { continue }
            callOut(to: item, .notified(item, activity: moment.rawValue, place))
            // "A one-shot observer is valid during its first call, and gone after it."
            if case .observer(_, repeats: false, _) = kind(item) { invalidate(item) }
        }
    }

    private func observerOrder(_ item: Int) -> Int {
        if case .observer(_, _, let order) = kind(item) { order } else { 0 }
    }

    private func stablySorted(_ list: [Int], by key: (Int) -> Int) -> [Int] {
        list.enumerated().sorted { (key($0.element), $0.offset) < (key($1.element), $1.offset) }
            .map(\.element)
    }

    /// 4.8: "FIFO; those for the mode are taken as a batch, so a block queued by a block waits for
    /// the next point at which blocks run".
    func performBlocks(_ mode: ModeName) {
        let batch = blocks.filter { mayRun($0, in: mode) }
        blocks.removeAll { mayRun($0, in: mode) }
        for block in batch { callOut(to: block.item, .called(block.item, place)) }
    }

    /// 4.5: "All signalled sources of the mode fire in one pass, by `order`, ties by time of first
    /// signal; under `returnAfterSourceHandled` only the first does".
    func fireSources(_ mode: ModeName, onlyFirst: Bool) -> Bool {
        let signalled = members[mode, default: []]
            .filter { isSource($0) && items[$0].signalledAt != nil }
            .sorted { sourceTurn($0) < sourceTurn($1) }
        var handledAny = false
        for item in signalled where items[item].isValid && items[item].signalledAt != nil {
            // "The flag is cleared before `perform`."
            items[item].signalledAt = nil
            callOut(to: item, .performed(item, place))
            handledAny = true
            if onlyFirst { break }
        }
        return handledAny
    }

    private func sourceTurn(_ item: Int) -> (Int, Int) {
        guard case .source(let order) = kind(item) else { return (0, 0) }
        return (order, items[item].signalledAt ?? 0)
    }
}
