/// The observers of one mode, in the order of calls.
///
/// A run copies those of its mode, so a copy is one reference, and none in most modes, which have no
/// observers.
struct ObserverLists<Observer: ObserverReference> {
    /// `nil` without observers: an empty array would be retained and released by each copy.
    private var members: [Observer]?
    /// The activities that have observers; the others are skipped.
    private(set) var observed: UVRunLoop.Activities = []

    /// Calls the body with the observers of an activity, in order.
    ///
    /// The list does not change meanwhile: observers added by the body are not in it.
    @inline(__always)
    borrowing func forEach(
        observing activity: UVRunLoop.Activities,
        _ body: (Observer) -> Void
    ) {
        members?.forEachUnretained { if $0.activities.contains(activity) { body($0) } }
    }

    /// Inserts an observer, after those of the same order; leaves out one that is never called.
    mutating func insert(_ observer: Observer) {
        guard !observer.activities.isEmpty else { return }
        var others = members ?? []
        let index = others.indices.lowestIndex { others[$0].order > observer.order }
        others.insert(observer, at: index)
        set(others)
    }

    mutating func remove(_ observer: Observer) {
        set((members ?? []).filter { $0 !== observer })
    }

    private mutating func set(_ members: [Observer]) {
        observed = members.reduce([]) { $0.union($1.activities) }
        self.members = members.isEmpty ? nil : members
    }
}
