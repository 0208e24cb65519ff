import CUV
internal import CUVSupport

/// Drives a run loop with one `uv_loop_t`, inside which none of the run loop's handlers ever runs.
///
/// libuv's callbacks only record events and call `uv_stop`; the events are processed after `uv_run`
/// has returned. Only callbacks of foreign handles do more inside `uv_run`, and never while a lock
/// is held. A prepare and a check handle mark the start and the end of a sleep. An async handle
/// ends it from other threads, and `UVAlarm` at a given time.
///
/// The stored properties belong to the loop's thread and are never accessed twice at the same time,
/// so they need no exclusivity checks.
@safe
final class UVDriver: LoopDriver {
    private let loop: UnsafeMutablePointer<uv_loop_t>
    private let wakeState: WakeState
    private let uvRemote = UVRemote()
    private let reports = ReadyReports()
    @safe @exclusivity(unchecked) private var watches = WatchTable()
    @safe @exclusivity(unchecked) private var alarm: UVAlarm?
    @safe @exclusivity(unchecked) private var async: UVHandle<uv_async_t>?
    @safe @exclusivity(unchecked) private var prepare: UVHandle<uv_prepare_t>?
    @safe @exclusivity(unchecked) private var check: UVHandle<uv_check_t>?
    @safe @exclusivity(unchecked) private var mayBlock = false
    /// Whether the latest poll found many descriptors ready.
    @safe @exclusivity(unchecked) private var isCrowded = false
    /// How many closed handles libuv has to free, which it does in `uv_run`.
    @safe @exclusivity(unchecked) private var closedCount = 0
    @safe @exclusivity(unchecked) private var stage = Stage.outside
    @safe @exclusivity(unchecked) private var foreignHandles = ForeignHandles()
    @safe @exclusivity(unchecked) private var handleHost: HandleHost?
    private let epoll: CInt

    var remote: any LoopRemote { uvRemote }

    init(wakeState: WakeState) throws(UVError) {
        var standard = StandardDescriptors.occupyClosed()
        defer { standard.removeAll() }
        try DescriptorReserve.ensure()
        self.wakeState = wakeState
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let status = unsafe cuv_loop_init(loop)
        guard status >= 0 else {
            unsafe loop.deallocate()
            throw UVError(rawValue: status)
        }
        DescriptorReserve.markLoopMade()
        unsafe self.loop = unsafe loop
        epoll = unsafe uv_backend_fd(loop)
        do {
            try openHandles()
        } catch {
            close()
            throw error
        }
    }

    private func openHandles() throws(UVError) {
        let loop = unsafe loop
        let async = try unsafe UVHandle<uv_async_t> { raw in
            unsafe uv_async_init(loop, raw) { _ in }
        }
        let rawAsync = unsafe async.raw
        unsafe self.async = consume async
        // Here a refusal can be thrown; in the first run libuv would abort the process.
        try accepted(unsafe cuv_loop_register(loop))
        let wakeDescriptor = unsafe WakeDescriptor.find(of: loop)
        unsafe uvRemote.open(async: rawAsync, wakeDescriptor: wakeDescriptor, epoll: epoll)
        let prepare = try unsafe UVHandle<uv_prepare_t> { raw in unsafe uv_prepare_init(loop, raw) }
        unsafe prepare.setData(Unmanaged.passUnretained(self).toOpaque())
        unsafe uv_prepare_start(prepare.raw) { handle in
            guard let data = unsafe handle?.pointee.data else { return }
            unsafe Unmanaged<UVDriver>.fromOpaque(data)._withUnsafeGuaranteedRef {
                $0.willPoll()
            }
        }
        unsafe prepare.unreference()
        unsafe self.prepare = consume prepare
        let check = try unsafe UVHandle<uv_check_t> { raw in unsafe uv_check_init(loop, raw) }
        unsafe check.setData(Unmanaged.passUnretained(self).toOpaque())
        unsafe uv_check_start(check.raw) { handle in
            guard let data = unsafe handle?.pointee.data else { return }
            unsafe Unmanaged<UVDriver>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.didPoll() }
        }
        unsafe check.unreference()
        unsafe self.check = consume check
    }

    // MARK: Sleeping

    func poll() {
        forgetReleased()
        if needsLibuv { return pollByLibuv() }
        if mustFreeClosed { run(UV_RUN_NOWAIT) } else { pollDirectly() }
    }

    func reclaim(lost: (ReadyReport) -> Void) {
        // libuv frees memory in `uv_run` only. Descriptors that it finds ready are found again by
        // the next poll, but for those that it has stopped to watch.
        guard closedCount > 0 || hostNeedsLibuv, !foreignHandles.mayBeThere else { return }
        run(UV_RUN_NOWAIT)
        handleHost?.announceNoted()
        while let report = takeReport() {
            if report.details.contains(.stopped) { lost(report) }
        }
    }

    func wait(until moment: Moment?, now: Int64) {
        forgetReleased()
        setAlarm(for: moment, now: now)
        if needsLibuv { return waitByLibuv() }
        if isCrowded, !mustFreeClosed {
            pollDirectly()
            guard reports.count == 0 else { return }
        }
        sleep()
    }

    /// Sets the alarm, which is made for the first date.
    private func setAlarm(for moment: Moment?, now: Int64) {
        if alarm == nil {
            guard moment != nil else { return }
            alarm = unsafe UVAlarm(loop: loop)
        }
        guard alarm?.mayOpenTimer(for: moment) == true else {
            alarm?.set(for: moment, now: now)
            return
        }
        // A timerfd may get the number of a descriptor that is released at this moment.
        forgetReleased { alarm?.set(for: moment, now: now) }
    }

    private func sleep() {
        mayBlock = true
        run(UV_RUN_ONCE)
        mayBlock = false
    }

    /// Inlined, because each return on the way back from a system call takes as long as a dozen
    /// instructions.
    @inline(__always)
    private func pollDirectly() {
        let mayBeMore = DirectPoll.poll(epoll: epoll) { descriptor, events, mayHaveEnded in
            watches[descriptor]?.noteReady(events, mayHaveEnded: mayHaveEnded)
        }
        if mayBeMore { pollForMany() }
        updateIsCrowded()
    }

    @inline(never)
    private func pollForMany() {
        DirectPoll.pollForMany(epoll: epoll, into: reports) { descriptor, events, mayHaveEnded in
            watches[descriptor]?.noteReady(events, mayHaveEnded: mayHaveEnded)
        }
    }

    /// 512 is half the number of events that libuv requests from the kernel at a time.
    ///
    /// With 1,500 descriptors that are always ready, an event takes less than half the CPU time
    /// like this.
    private func updateIsCrowded() { isCrowded = reports.count >= 512 }

    private func run(_ mode: uv_run_mode) {
        stage = .entered
        // A handler of this loop may have called `uv_stop`, which ends at most the sleep that it
        // comes in.
        unsafe cuv_forget_stop(loop)
        _ = unsafe uv_run(loop, mode)
        stage = .outside
        closedCount = 0
        updateIsCrowded()
    }

    /// Whether the next poll is to free handles: with many ready descriptors libuv takes
    /// milliseconds for it.
    private var mustFreeClosed: Bool { closedCount > (isCrowded ? 256 : 0) }

    var isInsideLibuv: Bool { stage != .outside }

    /// Called when libuv is about to poll: the last moment at which a wake-up can keep it from
    /// blocking.
    private func willPoll() {
        stage.check(is: .entered)
        stage = .prepared
        guard mayBlock else { return }
        guard unsafe !foreignHandles.timerMayHaveFired(loop), wakeState.fallAsleep() else {
            return unsafe uv_stop(loop)
        }
        // libuv from 1.45 on does not update its time here, and would sleep too long by the time
        // passed since the last update.
        if alarm?.isCoarse == true { unsafe uv_update_time(loop) }
    }

    private func didPoll() {
        // A callback of another prepare handle is called before ``willPoll()``.
        stage.check(is: .prepared)
        if mayBlock { wakeState.awaken() }
    }

    // MARK: Descriptors

    var readyCount: Int { reports.count }

    func takeReport() -> ReadyReport? {
        while var report = reports.takeNext() {
            guard watches.complete(&report, epoll: epoll) else { continue }
            if report.details.contains(.stopped) { endWatching(report.descriptor) }
            if !report.events.isEmpty || report.details.contains(.stopped) { return report }
        }
        return nil
    }

    func findHangUp(_ report: inout ReadyReport) -> Bool {
        watches[report.descriptor]?.findHangUp(&report, epoll: epoll) ?? false
    }

    /// Removes a descriptor from the epoll set after libuv has stopped to watch it, because of an
    /// error: the kernel would report that until libuv sleeps again.
    @inline(never)
    private func endWatching(_ descriptor: CInt) {
        uvRemote.withDescriptors { $0.pause(descriptor) }
    }

    func watch(
        _ changes: [WatchChange],
        ifCurrent isCurrent: (WatchChange) -> Bool,
        refused: (WatchChange, UVError) -> Void
    ) {
        // Under the lock, so that no other thread releases and closes a descriptor that libuv is
        // about to watch.
        uvRemote.withDescriptors { descriptors in
            for change in changes where isCurrent(change) {
                do throws(UVError) {
                    try start(change, &descriptors)
                    try watches[change.descriptor]?.arm(change.events ?? [], in: &descriptors)
                } catch {
                    forget(change.descriptor)
                    descriptors.release(change.descriptor)
                    refused(change, error)
                }
            }
        }
    }

    /// Makes sure that a `uv_poll` of this registration exists and is started.
    private func start(
        _ change: WatchChange,
        _ descriptors: inout WatchedDescriptors
    ) throws(UVError) {
        let descriptor = change.descriptor
        if let watch = watches[descriptor], watch.registration != change.registration {
            forget(descriptor)
        }
        if watches[descriptor] == nil {
            try descriptors.take(descriptor)
            watches[descriptor] = try unsafe UVWatch(
                descriptor,
                registration: change.registration,
                loop: loop,
                reports: reports
            )
        }
        guard let watch = watches[descriptor], watch.needsStart else { return }
        try watch.start()
    }

    func rearm(_ change: WatchChange) -> Bool {
        var isCarriedOut = true
        uvRemote.withDescriptors { descriptors in
            // Another thread may have released the descriptor, and closed it, after the change was
            // made.
            guard let watch = watches[change.descriptor], watch.registration == change.registration,
                descriptors.isTaken(change.descriptor)
            else { return }
            guard let events = change.events else {
                watch.pause()
                return descriptors.pause(change.descriptor)
            }
            do {
                try watch.arm(events, in: &descriptors)
            } catch {
                isCarriedOut = false
            }
        }
        return isCarriedOut
    }

    /// Closes the `uv_poll` handles of released descriptors.
    ///
    /// libuv knows them by number, and the numbers may belong to other files by now.
    @inline(__always)
    func forgetReleased() {
        if uvRemote.takeReleaseMark() { forgetReleased(andThen: {}) }
    }

    /// The same, and calls a body before any thread can release another descriptor.
    @inline(never)
    private func forgetReleased(andThen body: () -> Void) {
        uvRemote.withDescriptors { descriptors in
            for descriptor in descriptors.takeReleased() { forget(descriptor) }
            body()
        }
    }

    private func forget(_ descriptor: CInt) {
        guard let watch = watches.remove(descriptor) else { return }
        watch.close()
        closedCount += 1
    }

    // MARK: Foreign handles

    func lend() -> UnsafeMutablePointer<uv_loop_t>? {
        forgetReleased()
        foreignHandles.mayBeThere = true
        // Direct polls leave libuv's time as it is, from which its timers count.
        if !isInsideLibuv { unsafe uv_update_time(loop) }
        return unsafe loop
    }

    /// Polls by `uv_run`; if libuv had work, which may have been a foreign handle's, the next sleep
    /// ends at once.
    private func pollWithForeignHandles() {
        // A fine date that has passed would look like work every time.
        alarm?.clearPassedFine(now: uvRemote.now)
        let hadWork = unsafe foreignHandles.haveWork(loop)
        run(UV_RUN_NOWAIT)
        if hadWork { _ = wakeState.markWoken() }
    }

    /// Waits by `uv_run`; whatever ends the wait also ends the loop's sleep.
    private func waitWithForeignHandles() {
        // With pending work, libuv up to 1.44 would do it first and then block anyway.
        let hasWork = unsafe foreignHandles.haveWork(loop) || handleHost?.hasNoted == true
        mayBlock = !hasWork
        run(hasWork ? UV_RUN_NOWAIT : UV_RUN_ONCE)
        mayBlock = false
        _ = wakeState.markWoken()
    }

    // MARK: Hosted handles

    func host() -> HandleHost? {
        let host =
            unsafe handleHost
            ?? HandleHost(loop) { [unowned self] in forgetReleased(andThen: $0) }
        handleHost = host
        return host
    }

    /// Whether a poll has to go through libuv, because it has handles that are not the driver's.
    @inline(__always)
    private var needsLibuv: Bool {
        foreignHandles.mayBeThere || (handleHost != nil && hostNeedsLibuv)
    }

    /// Whether there is a hosted handle, or a source to announce whose last handle has ended.
    ///
    /// Not inlined: asked in place, a pass without any takes eight instructions more.
    @inline(never)
    private var hostNeedsLibuv: Bool { handleHost.map { !$0.isEmpty || $0.hasNoted } ?? false }

    private func pollByLibuv() {
        if foreignHandles.mayBeThere { pollWithForeignHandles() } else { run(UV_RUN_NOWAIT) }
        countHosted()
    }

    private func waitByLibuv() {
        defer { countHosted() }
        if foreignHandles.mayBeThere { return waitWithForeignHandles() }
        if handleHost?.hasNoted == true { run(UV_RUN_NOWAIT) } else { sleep() }
    }

    private func countHosted() { reports.hostedCount = handleHost?.notedCount ?? 0 }

    func announceHosted(ifExpected: Bool) { handleHost?.announcePolled(ifExpected: ifExpected) }

    // MARK: The end

    func close() {
        require(
            !isInsideLibuv,
            "A thread must not end or be cancelled inside uv_run. Return from callbacks first."
        )
        uvRemote.close()
        watches.closeAll()
        handleHost?.close()
        alarm.take()?.close()
        unsafe async.take()?.close()
        unsafe prepare.take()?.close()
        unsafe check.take()?.close()
        defer { self.handleHost = nil }
        guard let handleHost, !foreignHandles.mayBeThere else {
            // Calls the close callbacks, after which there is nothing left to be closed.
            if !foreignHandles.mayBeThere { _ = unsafe uv_run(loop, UV_RUN_NOWAIT) }
            return unsafe foreignHandles.close(loop, keeping: handleHost)
        }
        LoopRemains(handleHost).close()
    }
}
