/// Of which changes to timers a sleeping loop takes notice: of those that can decide when it wakes.
///
/// What the library does: the contract leaves it open. It shows where another thread does several
/// things at one date, because the next one comes before the loop goes on.
extension Model {
    struct SleepPlan {
        /// When the sleep ends at the latest.
        var end = Int64.max
        /// Whether another thread has changed since what items a mode has, apart from timers beside
        /// others.
        var isOutdated = false
    }

    /// Decides on a sleep, or anew.
    func planSleep(_ mode: ModeName) {
        sleepPlan = SleepPlan(end: plannedEnd(mode))
    }

    /// How late a date may be met that is met coarsely.
    private static let slack: Int64 = 2_000_000

    private func plannedEnd(_ mode: ModeName) -> Int64 {
        let limit = innermost.limit.map { ($0, isCoarse: $0 - Self.slack >= now) }
        var moments = [timersEnd(mode), limit].compactMap(\.self).sorted { $0.0 < $1.0 }
        guard let first = moments.first else { return .max }
        // A fine date right after a coarse one would be missed.
        if let later = moments.popLast(), !later.isCoarse, later.0 < first.0 + Self.slack {
            return first.0
        }
        return first.isCoarse ? first.0 + Self.slack : first.0
    }

    /// The end of the first window to close, or a date without one before that.
    private func timersEnd(_ mode: ModeName) -> (Int64, isCoarse: Bool)? {
        let timers = members[mode, default: []].filter { isTimer($0) && !items[$0].isOnStack }
            .map { items[$0].timer }
        let strict = timers.filter { $0.tolerance == 0 }.map(\.date).min()
        let windows = timers.filter { $0.tolerance > 0 }
            .map { (opens: $0.date, closes: $0.date + $0.tolerance) }
        let first = windows.min { ($0.closes, -$0.opens) < ($1.closes, -$1.opens) }
        guard let first, first.closes < strict ?? .max else { return strict.map { ($0, false) } }
        let width = first.closes - first.opens
        return width >= Self.slack
            ? (first.closes - Self.slack, true) : (first.opens + width / 2, false)
    }

    /// Whether the loop takes notice of an action of another thread with a timer; asked before it
    /// is carried out.
    func takesNotice(ofTimer action: Action) -> Bool {
        switch action {
        case .add(let item, let mode):
            let joined = modes(named: mode).filter { items[item].isValid && !isIn(item, $0) }
            return concernsSleep(item) || joined.contains { !holdsTimers($0, besides: item) }
        case .remove(let item, let mode):
            let isCommon = commonItems.contains(item)
            guard isCommon || isInAnyMode(item) else { return false }
            guard mode != .common || isCommon else { return concernsSleep(item) }
            let left = modes(named: mode).filter { isIn(item, $0) }
            return concernsSleep(item) || left.contains { !holdsTimers($0, besides: item) }
        case .setDate(let item, let delay):
            return isInAnyMode(item) && concernsSleep(item, now + max(delay, 0))
        case .setTolerance(let item, _): return isInAnyMode(item) && concernsSleep(item)
        default: return false
        }
    }

    private func concernsSleep(_ item: Int, _ newDate: Int64 = .max) -> Bool {
        sleepPlan.isOutdated || min(items[item].timer.date, newDate) <= sleepPlan.end
    }

    private func modes(named mode: ModeName) -> [ModeName] {
        mode == .common ? ModeName.concrete.filter(commonModes.contains) : [mode]
    }

    private func holdsTimers(_ mode: ModeName, besides item: Int) -> Bool {
        members[mode, default: []].contains { isTimer($0) && $0 != item }
    }

    /// Records that another thread has added or removed an observer, which does not end the sleep.
    func outdateSleepPlan(after action: Action) {
        switch action {
        case .add(let item, _), .remove(let item, _):
            if isObserver(item) { sleepPlan.isOutdated = true }
        default: break
        }
    }
}
