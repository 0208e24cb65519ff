/// Counts of the items that were sent to one place, and of those that have arrived.
final class Ledger: Sendable {
    private let sent = Number()
    private let done = Number()

    /// To be called before something is handed over.
    func send(_ count: Int = 1) { sent.add(count) }

    /// To be called when what was to be handed over was refused.
    func takeBack(_ count: Int = 1) { sent.add(-count) }

    func finish(_ count: Int = 1) { done.add(count) }

    /// The number of items that are still on their way.
    ///
    /// Finished items are counted first, so that the number is never negative.
    var outstanding: Int {
        let done = done.value
        return sent.value - done
    }

    var total: Int { sent.value }

    var finished: Int { done.value }
}
