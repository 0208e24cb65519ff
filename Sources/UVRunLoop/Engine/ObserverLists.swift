/// The observers of one mode, one list per activity, each in the order of its calls.
struct ObserverLists {
    private var lists: [[UVRunLoop.Observer]] = []
    /// The activities that somebody is told of; of the others nothing more is asked.
    private(set) var observed: UVRunLoop.Activities = []

    /// The observers to tell of one activity.
    ///
    /// Whoever iterates over the list keeps it as it was: observers that join meanwhile are not in
    /// it.
    subscript(activity: UVRunLoop.Activities) -> [UVRunLoop.Observer] {
        lists.isEmpty ? [] : lists[Self.index(of: activity)]
    }

    mutating func insert(_ observer: UVRunLoop.Observer) {
        if lists.isEmpty { lists = Array(repeating: [], count: Self.activities.count) }
        for activity in Self.activities where observer.activities.contains(activity) {
            let index = Self.index(of: activity)
            lists[index].insert(observer, at: lists[index].firstIndex(after: observer.order))
            observed.insert(activity)
        }
    }

    mutating func remove(_ observer: UVRunLoop.Observer) {
        guard !lists.isEmpty else { return }
        for activity in Self.activities where observer.activities.contains(activity) {
            let index = Self.index(of: activity)
            lists[index].removeAll { $0 === observer }
            if lists[index].isEmpty { observed.remove(activity) }
        }
    }

    private static let activities: [UVRunLoop.Activities] = [
        .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
    ]

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

extension [UVRunLoop.Observer] {
    /// Where one of this order goes so that it is called after all who have been there with the
    /// same.
    fileprivate func firstIndex(after order: Int) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].order <= order { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
