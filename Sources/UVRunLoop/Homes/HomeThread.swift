import Synchronization

/// A thread that handlers are bound to, and that releases them for other threads.
///
/// The captures of a handler need not be `Sendable`, so only this thread may release them. Other
/// threads post the release here, or what else only this thread may do, such as closing a handle of
/// its loop. The thread's loop performs it when a run begins or ends, in each pass, and before each
/// sleep; a thread that runs no loop performs it when it ends. After that, the thread that drops a
/// handler releases it.
final class HomeThread: Sendable {
    private struct State {
        var releases: [Block] = []
        var isClosed = false
        /// The loop to wake for a release; `nil` if the thread has none.
        var loop: UVRunLoop?
    }

    let identity: ThreadIdentity
    private let state = Guarded(State())
    /// Read without the lock, once per pass.
    private let hasReleases = Atomic<Bool>(false)

    private init(_ identity: ThreadIdentity) { self.identity = identity }

    // MARK: Finding one

    /// The threads of this process but for the main thread, from their first use of the library
    /// until they end; a forked child has none of its parent's.
    ///
    /// In several parts, so that threads that release each other's handlers seldom wait for one
    /// lock.
    private final class Directory: Sendable {
        private typealias Part = Guarded<[ThreadIdentity: HomeThread]>

        private let parts = InlineArray<16, Part> { _ in Part([:]) }

        subscript(identity: ThreadIdentity) -> HomeThread? {
            get { parts[Int(identity.number % 16)].withLock { $0[identity] } }
            set { parts[Int(identity.number % 16)].withLock { $0[identity] = newValue } }
        }
    }

    private static let directory = PerProcess { Directory() }
    private static let mainThread = PerProcess { HomeThread(.main) }

    /// The main thread, even if it has not used the library yet.
    static var main: HomeThread { mainThread.current }

    /// Begins to accept releases for the calling thread.
    static func open(_ identity: ThreadIdentity) -> HomeThread {
        if identity == .main { return main }
        let home = HomeThread(identity)
        directory.current[identity] = home
        return home
    }

    /// A thread of this process; `nil` if it has ended.
    static func find(_ identity: ThreadIdentity) -> HomeThread? {
        identity == .main ? main : directory.current[identity]
    }

    // MARK: Any thread

    /// Posts a release to the thread.
    ///
    /// - Returns: `false` if the thread has ended.
    ///
    /// > Threading: Any thread; no lock may be held.
    func post(_ release: @escaping Block) -> Bool {
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

    /// Whether other threads have posted releases.
    var holdsReleases: Bool { hasReleases.load(ordering: .relaxed) }

    /// Performs the releases that other threads have posted.
    ///
    /// - Returns: Whether there were any.
    @inline(__always)
    @discardableResult
    func performReleases() -> Bool {
        guard holdsReleases else { return false }
        performPostedReleases()
        return true
    }

    @inline(never)
    private func performPostedReleases() {
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
        performPostedReleases()
        Self.directory.current[identity] = nil
    }
}
