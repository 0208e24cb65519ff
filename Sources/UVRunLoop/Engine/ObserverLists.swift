/// The observers of one mode, one list per activity, each in the order of its calls.
///
/// The lists lie one behind the other in one array: most passes of most loops have nobody to tell,
/// and those that have tell them several times.
struct ObserverLists<Observer: ObserverReference> {
    private var entries: [Observer] = []
    /// Where each list begins; the last one is where the last list ends.
    private var bounds = InlineArray<7, Int32>(repeating: 0)
    /// The activities that somebody is told of; of the others nothing more is asked.
    private(set) var observed: UVRunLoop.Activities = []

    /// Lends the observers to tell of one activity, in the order of their calls.
    ///
    /// The lists stay as they are meanwhile: observers that join are not in them.
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

    /// Where one of this order goes in a list so that it is called after all who have been there
    /// with the same.
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
