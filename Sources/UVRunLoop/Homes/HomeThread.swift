import Synchronization

/// A thread that handlers are bound to, and that releases them for other threads.
///
/// The captures of a handler need not be `Sendable`, so only this thread may release them. Other
/// threads post the release here. The thread's loop performs it in its next pass, during a sleep,
/// or when a run begins; a thread that runs no loop performs it when it ends. After that, the
/// thread that drops a handler releases it.
@usableFromInline
package final class HomeThread: Sendable {
    private struct State {
        var releases: [Block] = []
        var isClosed = false
        /// The loop to wake for a release; `nil` if the thread has none.
        var loop: UVRunLoop?
    }

    package let identity: ThreadIdentity
    private let generation = ForkCount.current
    private let state = Guarded(State())
    /// Read without the lock, once per pass.
    private let hasReleases = Atomic<Bool>(false)

    init(_ identity: ThreadIdentity) { self.identity = identity }

    /// The calling thread.
    @usableFromInline package static var current: HomeThread { ThreadRecord.currentHome }

    private static let mainThread = PerProcess { HomeThread(.main) }

    /// The main thread, even if it has not used the library yet.
    static var main: HomeThread { mainThread.current }

    @usableFromInline package var isCurrent: Bool { ThreadRecord.isCurrent(identity) }

    /// Posts a release to the thread.
    ///
    /// - Parameter release: The release. A value that only the thread may release is captured by
    ///   pointer.
    /// - Returns: `false` if the thread has ended, and the caller must release the value.
    ///
    /// > Threading: Any thread; no lock may be held.
    func post(_ release: @escaping Block) -> Bool {
        // In a forked child, the parent's threads do not exist.
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

    // MARK: The rule

    /// Traps unless a handler with a home, or with none, may be called on a thread.
    ///
    /// - Parameters:
    ///   - home: The handler's home.
    ///   - thread: The thread.
    ///   - caller: Returns what the message of the trap names.
    @inline(__always)
    package static func check(
        _ home: ThreadIdentity?,
        is thread: ThreadIdentity,
        _ caller: () -> Caller
    ) {
        if home == nil || home == thread { return }
        let caller = caller()
        fail(rule(for: caller.subject), file: caller.file, line: caller.line)
    }

    static func rule(for subject: String) -> String {
        """
        \(subject) has a handler that is not @Sendable, so it belongs to the thread that created \
        it. Create it on the thread whose loop serves it, or use the initialiser with a sendable \
        handler.
        """
    }

    // MARK: On the thread itself

    /// Performs the releases that other threads have posted.
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

    /// Sets the loop to wake; another thread may create the main thread's loop.
    func setLoop(_ loop: UVRunLoop?) {
        let previous = state.withLock { exchange(&$0.loop, with: loop) }
        withExtendedLifetime(previous) {}
    }

    /// Closes the thread at its exit, and performs the remaining releases.
    func close() {
        setLoop(nil)
        state.withLock { $0.isClosed = true }
        doPostedReleases()
    }
}
