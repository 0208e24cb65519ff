import CUV
import UVRunLoop

/// A libuv handle or request of a source, from its start to its last callback.
///
/// Subclasses own the C memory, which libuv uses until the last callback; the loop's host keeps the
/// object until then.
///
/// Unchecked: everything that changes does so on the loop's thread, or on the thread that awaits
/// the loop's requests when it has ended.
@safe
class LoopHandle: HostedHandle, @unchecked Sendable {
    typealias Action = @Sendable (LoopHandle) -> Void

    let loop: UVRunLoop
    let host: HandleHost
    private let turns: ActionTurns
    /// Actions for the loop's thread, in the order in which any threads asked for them.
    private let actions = Guarded(Actions())
    /// The link of the source, which is to be announced.
    weak var link: UVRunLoop.PortLink?
    /// Whether an event was noted that is not announced yet.
    private var isNoted = false
    /// Whether the source was neither invalidated nor released.
    private var hasSource = true
    /// Whether ``close()`` has no effect any more.
    private(set) var isClosed = false
    /// Whether libuv no longer uses the C memory, which is freed.
    private(set) final var isReleased = false

    init(_ site: LoopSite) {
        loop = site.loop
        host = site.host
        turns = ActionTurns.of(host)
    }

    private struct Actions {
        var waiting = FirstInFirstOut<Action>()
        /// Whether the handle has a turn among those of its loop.
        var hasTurn = false
    }

    // MARK: Events

    /// Notes an event of the source, in a callback of libuv.
    final func note() {
        if !exchange(&isNoted, with: true) { host.note(self) }
    }

    final var order: Int { link?.order ?? 0 }

    final var isExpected: Bool { link?.isExpected == true }

    final func announce(ofPoll isOfPoll: Bool = false) {
        isNoted = false
        eventsWereNoted()
        link?.announce(ofPoll: isOfPoll)
    }

    /// Called on the loop's thread, outside of libuv, when events were noted.
    func eventsWereNoted() {}

    /// Called on the loop's thread when an event was taken.
    func eventWasTaken() {}

    // MARK: The end

    /// Closes the handle or cancels the request, on the loop's thread.
    final func close() {
        guard !isClosed else { return }
        isClosed = true
        end()
    }

    /// Tells libuv to close the handle or to cancel the request; called once.
    func end() {}

    /// Called on any thread before ``close()`` is asked for.
    func willClose() {}

    /// Closes the handle from any thread; a forked child leaves its parent's handles alone.
    final func closeFromAnyThread() {
        guard loop.isOfThisProcess else { return }
        willClose()
        // What waits is of no use any more, and finds that.
        if loop.isOnOwnThread { close() }
        onThread { $0.loseSource() }
    }

    private func loseSource() {
        hasSource = false
        close()
        host.forget(self)
    }

    /// Resumes production from any thread.
    final func roomWasMade() {
        // At once if possible, before what other threads have asked for, which may take long.
        guard !loop.isOnOwnThread else { return resumeProduction() }
        onThread { $0.resumeProduction() }
    }

    private func resumeProduction() {
        if !isClosed { eventWasTaken() }
    }

    /// Has the loop's thread do something, after all that was asked for before: at once if that is
    /// the calling thread.
    ///
    /// Traps in a forked child.
    final func onThread(_ action: @escaping Action) {
        loop.checkProcess()
        let isOnThread = loop.isOnOwnThread
        let (end, needsTurn) = actions.withLock { actions in
            actions.waiting.append(action)
            let needsTurn = !isOnThread && !exchange(&actions.hasTurn, with: true)
            return (actions.waiting.end, needsTurn)
        }
        if isOnThread {
            // Not what others ask for meanwhile.
            while let action = actions.withLock({ $0.waiting.takeFirst(before: end) }) {
                action(self)
            }
        } else if needsTurn {
            turns.append(self)
        }
    }

    /// Performs the first action, on the loop's thread, in a turn; returns whether the handle needs
    /// another one.
    final func performAction() -> Bool {
        if let action = actions.withLock({ $0.waiting.takeFirst() }) { action(self) }
        return actions.withLock { actions in
            actions.hasTurn = !actions.waiting.isEmpty
            return actions.hasTurn
        }
    }

    /// Releases what the ended thread of the loop was asked for.
    final func dropActions() {
        let dropped = actions.withLock { exchange(&$0, with: Actions()) }
        withExtendedLifetime(dropped) {}
    }

    /// Both steps may release what user code has captured, and a forked child may return from that.
    final func loopWillEnd() {
        close()
        loop.checkProcess()
        if let link { UVRunLoop.invalidate(link) }
        loop.checkProcess()
    }

    // MARK: C handles

    /// The pointer with which libuv's callbacks find this object.
    final var data: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// Closes a C handle whose data is ``data``; its memory is freed and this object released when
    /// libuv no longer uses them.
    final func close<Raw>(_ raw: UnsafeMutablePointer<Raw>) {
        let handle = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
        unsafe uv_close(handle) { handle in
            guard let handle = unsafe handle, let data = unsafe handle.pointee.data else { return }
            let owner = unsafe Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue()
            unsafe handle.deallocate()
            owner.didRelease()
        }
    }

    /// Notes that the C memory was freed.
    final func didRelease() {
        isReleased = true
        host.didFinish(self, isOfValidSource: hasSource && link?.isValid == true)
    }
}

extension LoopHandle {
    /// Traps unless a source may be added to the loop of a thread.
    final func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        if thread == loop.thread { return }
        let caller = caller()
        fail(
            """
            \(caller.subject) was created in another run loop, which has its libuv handle. Create \
            it on the thread of the loop that serves it.
            """,
            file: caller.file,
            line: caller.line
        )
    }
}
