/// The observers of one mode: one list per activity, in the order of calls.
///
/// A run copies the lists of its mode, so a copy is one reference, and none in most modes, which
/// have no observers.
struct ObserverLists<Observer: ObserverReference> {
    /// The observers of the mode, and their lists; never changed once made.
    private final class Snapshot {
        /// In the order of calls.
        let members: [Observer]
        /// All lists in one array, because an observer is usually in several of them.
        let observers: [Observer]
        /// The start of each list; the last element is the end of the last list.
        private let bounds: [Int]

        init(_ members: [Observer]) {
            var (observers, bounds) = ([Observer](), [0])
            observers.reserveCapacity(
                members.reduce(0) { $0 + $1.activities.listed.rawValue.nonzeroBitCount }
            )
            bounds.reserveCapacity(listCount + 1)
            for list in 0..<listCount {
                let activity = UVRunLoop.Activities(rawValue: 1 << list)
                for member in members where member.activities.contains(activity) {
                    observers.append(member)
                }
                bounds.append(observers.count)
            }
            (self.members, self.observers, self.bounds) = (members, observers, bounds)
        }

        @inline(__always)
        func range(of list: Int) -> Range<Int> { bounds[list]..<bounds[list + 1] }
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
            let range = snapshot.range(of: activity.rawValue.trailingZeroBitCount)
            snapshot.observers.forEachUnretained(in: range, body)
        }
    }

    /// Inserts an observer, after those of the same order.
    mutating func insert(_ observer: Observer) {
        var members = snapshot?.members ?? []
        let index = members.indices.lowestIndex { members[$0].order > observer.order }
        members.insert(observer, at: index)
        set(members)
    }

    mutating func remove(_ observer: Observer) {
        set((snapshot?.members ?? []).filter { $0 !== observer })
    }

    private mutating func set(_ members: [Observer]) {
        observed = members.reduce([]) { $0.union($1.activities.listed) }
        snapshot = observed.isEmpty ? nil : Snapshot(members)
    }
}

/// The bits of ``UVRunLoop/Activities``, each with a list; some bits are no activity.
private let listCount = 8

extension UVRunLoop.Activities {
    /// Those that have a list.
    fileprivate var listed: Self { intersection(Self(rawValue: 1 << listCount - 1)) }
}
