extension GenericEngine {
    /// The contents of one mode, copied under the lock for a description.
    struct Listing {
        let mode: UVRunLoop.Mode
        let isCommon: Bool
        var timers: [(timer: Items.Timer, isBeingCalled: Bool)] = []
        var sources: [Items.Source] = []
        var ports: [(port: Items.Port, isReady: Bool)] = []
        var observers: [Items.Observer] = []
    }

    /// The modes and their items; timers in the order of their dates.
    ///
    /// - Complexity: O(number of items × number of modes).
    var listings: [Listing] { (0..<modes.count).map { listing(of: $0) } }

    private func listing(of mode: Int) -> Listing {
        var listing = Listing(mode: modes[mode].mode, isCommon: modes[mode].isCommon)
        listing.timers = modes[mode].timers.members.all.sorted { $0.date < $1.date }
            .map { ($0, $0.core.isBeingCalled) }
        listing.sources = sources.records(in: mode).map(\.source)
        listing.ports = ports.records(in: mode).map { ($0.port, $0.isReady(modes)) }
        listing.observers = observers.records(in: mode).map(\.observer)
        return listing
    }
}
