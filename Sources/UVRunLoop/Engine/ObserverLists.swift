/// The observers of one mode: one list per activity, in the order of calls.
///
/// All lists share one array, because most modes have no observers, and an observer is usually in
/// several lists.
struct ObserverLists<Observer: ObserverReference> {
    private var entries: [Observer] = []
    /// The start of each list; the last element is the end of the last list.
    private var bounds = InlineArray<7, Int32>(repeating: 0)
    /// The activities that have observers; the others are skipped.
    private(set) var observed: UVRunLoop.Activities = []

    /// Calls the body with the observers of an activity, in order.
    ///
    /// The lists do not change meanwhile: observers added by the body are not in them.
    @inline(__always)
    borrowing func forEach(
        observing activity: UVRunLoop.Activities,
        _ body: (Observer) -> Void
    ) {
        let list = Self.index(of: activity)
        entries.forEachUnretained(in: range(of: list), body)
    }

    mutating func insert(_ observer: Observer) {
        for (list, activity) in listedActivities.enumerated()
        where observer.activities.contains(activity) {
            entries.insert(observer, at: firstIndex(in: list, after: observer.order))
            for later in list + 1..<bounds.count { bounds[later] += 1 }
            observed.insert(activity)
        }
    }

    mutating func remove(_ observer: Observer) {
        for (list, activity) in listedActivities.enumerated()
        where observer.activities.contains(activity) {
            let range = range(of: list)
            guard let index = entries[range].firstIndex(where: { $0 === observer })
            else { continue }
            entries.remove(at: index)
            for later in list + 1..<bounds.count { bounds[later] -= 1 }
            if range.count == 1 { observed.remove(activity) }
        }
    }

    /// Returns where an observer of an order is inserted: after those of the same order.
    private func firstIndex(in list: Int, after order: Int) -> Int {
        var (low, high) = (range(of: list).lowerBound, range(of: list).upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].order <= order { low = middle + 1 } else { high = middle }
        }
        return low
    }

    @inline(__always)
    private func range(of list: Int) -> Range<Int> { Int(bounds[list])..<Int(bounds[list + 1]) }

    @inline(__always)
    private static func index(of activity: UVRunLoop.Activities) -> Int {
        switch activity {
        case .entry: 0
        case .beforeTimers: 1
        case .beforeSources: 2
        case .beforeWaiting: 3
        case .afterWaiting: 4
        default: 5
        }
    }
}

/// The activities that have a list, in the order of the lists.
private let listedActivities: [UVRunLoop.Activities] = [
    .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
]
