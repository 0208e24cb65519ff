/// What an item calls, until the item becomes invalid.
///
/// Letting go of it then, and not when the item goes, frees what it captured, which is often the
/// item's owner.
@usableFromInline
package struct Handler<Body>: ~Copyable, Sendable {
    @usableFromInline let body: Guarded<ThreadBound<Body>?>
    @usableFromInline let home: ThreadIdentity?

    @inlinable
    package init(_ body: ThreadBound<Body>) {
        home = body.home
        self.body = Guarded(body)
    }

    /// Whether the handler is bound to the loop's thread; `false` for one that may run on any.
    package func isAtHome(in loop: UVRunLoop) -> Bool { home == loop.thread }

    /// Traps with a sentence unless the handler may be called on a thread.
    package func checkHome(is thread: ThreadIdentity) {
        require(home == nil || home == thread, ThreadBound<Body>.rule)
    }

    /// The handler, for a call on the thread it belongs to; `nil` once it has been let go.
    @inlinable package var current: Body? { body.withLock { $0 }?.value }

    /// Lets the handler go, which may run code of its owner's: no lock may be held.
    ///
    /// - Parameter loop: A loop that the item was in. If it is the one of the handler's thread,
    ///   and this is another thread, the loop lets go of the handler in its next pass: what a
    ///   handler that is not `Sendable` captured is not touched elsewhere.
    package func letGo(with loop: UVRunLoop?) {
        guard let last = body.withLock({ exchange(&$0, with: nil) }) else { return }
        if let loop, home == loop.thread, !loop.isOnOwnThread { loop.discard(last) }
    }
}
