/// The observers of one mode: one list per activity, in the order of calls.
///
/// A run copies the lists of its mode, so a copy is one reference, and none in most modes, which
/// have no observers.
struct ObserverLists<Observer: ObserverReference> {
    /// All lists in one array, because an observer is usually in several of them.
    private struct Entries {
        var observers: [Observer] = []
        /// The start of each list; the last element is the end of the last list.
        var bounds = [Int](repeating: 0, count: listCount + 1)

        @inline(__always)
        func range(of list: Int) -> Range<Int> { bounds[list]..<bounds[list + 1] }
    }

    /// Makes copying cheap; never changed once made.
    private final class Snapshot {
        let entries: Entries

        init(_ entries: Entries) { self.entries = entries }
    }

    /// `nil` without observers.
    private var snapshot: Snapshot?
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
        withUnretained(snapshot) { snapshot in
            let range = snapshot.entries.range(of: activity.rawValue.trailingZeroBitCount)
            snapshot.entries.observers.forEachUnretained(in: range, body)
        }
    }

    mutating func insert(_ observer: Observer) {
        change(listsOf: observer) { entries, list in
            let index = Self.firstIndex(in: list, after: observer.order, entries)
            entries.observers.insert(observer, at: index)
            return 1
        }
    }

    mutating func remove(_ observer: Observer) {
        change(listsOf: observer) { entries, list in
            let range = entries.range(of: list)
            let index = entries.observers[range].firstIndex { $0 === observer }
            guard let index else { return 0 }
            entries.observers.remove(at: index)
            return -1
        }
    }

    /// Changes the lists of an observer's activities.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - body: Changes one list; returns by how much it grew.
    private mutating func change(
        listsOf observer: Observer,
        _ body: (inout Entries, _ list: Int) -> Int
    ) {
        var entries = snapshot?.entries ?? Entries()
        for list in 0..<listCount {
            let activity = UVRunLoop.Activities(rawValue: 1 << list)
            guard observer.activities.contains(activity) else { continue }
            let growth = body(&entries, list)
            for later in list + 1...listCount { entries.bounds[later] += growth }
            if entries.range(of: list).isEmpty {
                observed.remove(activity)
            } else {
                observed.insert(activity)
            }
        }
        snapshot = entries.observers.isEmpty ? nil : Snapshot(entries)
    }

    /// Returns where an observer of an order is inserted: after those of the same order.
    private static func firstIndex(in list: Int, after order: Int, _ entries: Entries) -> Int {
        entries.range(of: list).lowestIndex { entries.observers[$0].order > order }
    }
}

/// The bits of ``UVRunLoop/Activities``, each with a list; some bits are no activity.
private let listCount = 8
