/// What was sent somewhere, and what of it has arrived.
final class Ledger: Sendable {
    private let sent = Number()
    private let done = Number()

    /// To be called before something is handed over.
    func send(_ count: Int = 1) { sent.add(count) }

    /// To be called when what was to be handed over was refused.
    func takeBack(_ count: Int = 1) { sent.add(-count) }

    func finish(_ count: Int = 1) { done.add(count) }

    /// What is still on its way.
    ///
    /// What is done is read first: it may have been sent meanwhile, but not the other way round.
    var outstanding: Int {
        let done = done.value
        return sent.value - done
    }

    var total: Int { sent.value }

    var finished: Int { done.value }
}
