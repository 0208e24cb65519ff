import Synchronization

/// A thread that handlers are bound to, for other threads that are to release one.
///
/// What a handler captured need not be `Sendable`, so only this thread may release it. Others post
/// the release here; the thread's loop does it in its next pass, inside of a sleep if it sleeps,
/// and when a run begins. A thread that runs no loop does it when it ends. Once it has ended,
/// whoever drops a handler releases it.
@usableFromInline
package final class HomeThread: Sendable {
    private struct State {
        var releases: [Block] = []
        var isClosed = false
        /// What a release wakes; `nil` while the thread has none.
        var loop: UVRunLoop?
    }

    package let identity: ThreadIdentity
    private let generation = ForkCount.current
    private let state = Guarded(State())
    /// For a look without the lock, once per pass.
    private let hasReleases = Atomic<Bool>(false)

    init(_ identity: ThreadIdentity) { self.identity = identity }

    /// The calling thread.
    @usableFromInline package static var current: HomeThread { ThreadRecord.currentHome }

    private static let mainThread = PerProcess { HomeThread(.main) }

    /// The main thread, which may not have used the library yet.
    static var main: HomeThread { mainThread.current }

    @usableFromInline package var isCurrent: Bool { ThreadRecord.isCurrent(identity) }

    /// Has the thread release something.
    ///
    /// - Parameter release: Captures nothing that only that thread may release, but by a pointer.
    /// - Returns: `false` when the thread has ended: the caller releases it.
    ///
    /// > Threading: Any thread; no lock may be held.
    func post(_ release: @escaping Block) -> Bool {
        // In a forked child the threads of the parent do not exist.
        guard generation == ForkCount.current else { return false }
        let (isPosted, loop) = state.withLock { state -> (Bool, UVRunLoop?) in
            guard !state.isClosed else { return (false, nil) }
            state.releases.append(release)
            hasReleases.store(true, ordering: .relaxed)
            return (true, state.loop)
        }
        loop?.contentsDidChange()
        return isPosted
    }

    // MARK: On the thread itself

    /// Does the releases that others have posted.
    ///
    /// - Returns: Whether there were any.
    @inline(__always)
    @discardableResult
    func doReleases() -> Bool {
        guard hasReleases.load(ordering: .relaxed) else { return false }
        doPostedReleases()
        return true
    }

    @inline(never)
    private func doPostedReleases() {
        let releases = state.withLock { state in
            hasReleases.store(false, ordering: .relaxed)
            return exchange(&state.releases, with: [])
        }
        for release in releases { release() }
    }

    /// Names the loop to wake; that of the main thread may be made by another one.
    func setLoop(_ loop: UVRunLoop?) {
        let previous = state.withLock { exchange(&$0.loop, with: loop) }
        withExtendedLifetime(previous) {}
    }

    /// Ends together with the thread, and does what is left to do.
    func close() {
        setLoop(nil)
        state.withLock { $0.isClosed = true }
        doPostedReleases()
    }
}
