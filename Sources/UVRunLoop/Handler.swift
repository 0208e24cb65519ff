import Synchronization

/// What an item calls, until the item becomes invalid.
///
/// Letting go of it then, and not when the item goes, frees what it captured, which is often the item's owner.
struct Handler<Body>: ~Copyable, Sendable {
    private let body: Guarded<ThreadBound<Body>?>
    private let home: ThreadIdentity?

    init(_ body: ThreadBound<Body>) {
        home = body.home
        self.body = Guarded(body)
    }

    /// Traps with a sentence unless the handler may be called on a thread.
    func checkHome(is thread: ThreadIdentity) {
        precondition(home == nil || home == thread, ThreadBound<Body>.rule)
    }

    /// The handler, for a call on the thread it belongs to; `nil` once it has been let go.
    var current: Body? { body.withLock { $0 }?.value }

    /// Lets the handler go, which may run code of its owner's: no lock may be held.
    func letGo() {
        let last = body.withLock { exchange(&$0, with: nil) }
        withExtendedLifetime(last) {}
    }
}
