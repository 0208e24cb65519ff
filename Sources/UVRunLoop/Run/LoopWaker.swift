import Synchronization

/// Wakes a loop when there is something for it.
struct LoopWaker: ~Copyable, Sendable {
    /// Whether the loop sleeps, and whether something has changed since it last checked.
    let state: WakeState
    /// The part of the driver that any thread may use.
    let remote: any LoopRemote
    /// Counts the announcements of ports: events that the kernel does not report.
    private let announcements = Atomic<UInt64>(0)
    /// Counts the changes to what the kernel is to watch.
    private let watchRequests = Atomic<UInt64>(0)

    init(_ state: WakeState, _ remote: any LoopRemote) {
        self.state = state
        self.remote = remote
    }

    var announcementCount: UInt64 { announcements.load(ordering: .relaxed) }
    var watchRequestCount: UInt64 { watchRequests.load(ordering: .acquiring) }

    /// Wakes a sleeping loop after a change to its contents, so that it recomputes its sleep.
    func contentsDidChange() {
        if state.markChanged() { remote.wake() }
    }

    /// Wakes a sleeping loop after a block was queued.
    func blocksDidChange() {
        if state.markChangedUnlessMarked() { remote.wake() }
    }

    /// Wakes a sleeping loop after a port was added to a mode.
    func watchesDidChange() {
        watchRequests.add(1, ordering: .releasing)
        contentsDidChange()
    }

    /// Wakes a sleeping loop after a port has announced an event.
    func portDidAnnounce() {
        announcements.add(1, ordering: .relaxed)
        contentsDidChange()
    }

    /// Ends the present sleep, or the next one.
    func wakeUp() {
        if state.markWoken() { remote.wake() }
    }
}
