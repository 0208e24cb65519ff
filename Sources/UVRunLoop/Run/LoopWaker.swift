import Synchronization

/// Wakes a loop when there is something for it.
struct LoopWaker: ~Copyable, Sendable {
    /// Whether the loop sleeps, and whether something has changed since it last checked.
    let state: WakeState
    /// The part of the driver that any thread may use.
    let remote: any LoopRemote
    /// The loop's clock is then read without the driver, which need not be retained for it.
    private let isOnSystemClock: Bool
    /// The end of the present sleep, or of the latest one.
    let sleepPlan = SleepPlan()
    /// Counts the announcements of ports: events that the kernel does not report.
    private let announcements = Atomic<UInt64>(0)
    /// Counts the additions of ports to modes, of events to ports, and of common modes: the kernel
    /// may have more to watch.
    private let addedPorts = Atomic<UInt64>(0)

    init(_ state: WakeState, _ remote: any LoopRemote) {
        self.state = state
        self.remote = remote
        isOnSystemClock = remote.isOnSystemClock
    }

    /// The current time of the loop's clock.
    var now: Int64 {
        @inline(__always)
        get { isOnSystemClock ? monotonicNow() : remote.now }
    }

    /// Returns the later of a date and the current time of the loop's clock.
    @inline(__always)
    func time(notBefore date: Int64) -> Int64 {
        isOnSystemClock ? monotonicTime(notBefore: date) : max(date, remote.now)
    }

    var announcementCount: UInt64 { announcements.load(ordering: .relaxed) }
    var addedPortCount: UInt64 { addedPorts.load(ordering: .acquiring) }

    /// Wakes a sleeping loop after a change to its contents, so that it recomputes its sleep.
    @inline(__always)
    func contentsDidChange() {
        if state.markChanged() { remote.wakeLoop() }
    }

    /// Wakes a sleeping loop after a change to a timer, unless the sleep ends before the timer's
    /// date.
    ///
    /// - Parameters:
    ///   - date: The timer's date, before or after the change: the sooner one.
    ///   - version: The present version of the contents.
    func timersDidChange(soonest date: Int64, version: UInt64) {
        if state.isAsleep, sleepPlan.endsBefore(date, version: version) { return }
        contentsDidChange()
    }

    /// Wakes a sleeping loop after a block was queued.
    @inline(__always)
    func blocksDidChange() {
        if state.markChangedUnlessMarked() { remote.wakeLoop() }
    }

    /// Wakes a sleeping loop after a port was added to a mode, or waits for more events.
    func portWasAdded() {
        addedPorts.add(1, ordering: .releasing)
        contentsDidChange()
    }

    /// Wakes a sleeping loop after a port has announced an event.
    func portDidAnnounce() {
        announcements.add(1, ordering: .relaxed)
        contentsDidChange()
    }

    /// Ends the present sleep, or the next one.
    @inline(__always)
    func wakeUp() {
        if state.markWoken() { remote.wakeLoop() }
    }
}

extension LoopRemote {
    /// Wakes a sleeping loop, and tells the tracers.
    ///
    /// Not inlined, because most callers find the loop awake.
    @inline(never)
    func wakeLoop() {
        if LoopTracing.isOn { LoopTracing.wakeTraced(self) } else { wake() }
    }
}
