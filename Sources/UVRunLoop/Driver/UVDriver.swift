import CUV

/// Drives a loop on libuv: one `uv_loop_t`, in which no user code ever runs.
///
/// libuv's callbacks take notes and stop libuv's loop; what they mean is settled after `uv_run`
/// has returned. A prepare and a check handle are the edges of a sleep, an async handle ends it
/// from other threads, and `UVAlarm` at a given time.
@safe
final class UVDriver: LoopDriver {
    private let loop: UnsafeMutablePointer<uv_loop_t>
    private let word: WakeWord
    private let uvRemote = UVRemote()
    private let notes = ReadyNotes()
    private var watches: [CInt: UVWatch] = [:]
    private var alarm: UVAlarm?
    private var async: UVHandle<uv_async_t>?
    private var prepare: UVHandle<uv_prepare_t>?
    private var check: UVHandle<uv_check_t>?
    private var mayBlock = false
    private var needsFlush = false
    private let epoll: CInt

    var remote: any LoopRemote { uvRemote }

    init(word: WakeWord) throws(UVError) {
        try DescriptorReserve.ensure()
        self.word = word
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let status = unsafe uv_loop_init(loop)
        guard status >= 0 else {
            unsafe loop.deallocate()
            throw UVError(rawValue: status)
        }
        DescriptorReserve.noteLoop()
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
        unsafe uvRemote.open(async: async.raw, epoll: epoll)
        unsafe self.async = consume async
        let prepare = try unsafe UVHandle<uv_prepare_t> { raw in unsafe uv_prepare_init(loop, raw) }
        unsafe prepare.setData(Unmanaged.passUnretained(self).toOpaque())
        unsafe uv_prepare_start(prepare.raw) { handle in
            guard let data = unsafe handle?.pointee.data else { return }
            unsafe Unmanaged<UVDriver>.fromOpaque(data)._withUnsafeGuaranteedRef {
                $0.isAboutToPoll()
            }
        }
        unsafe prepare.unreference()
        unsafe self.prepare = consume prepare
        let check = try unsafe UVHandle<uv_check_t> { raw in unsafe uv_check_init(loop, raw) }
        unsafe check.setData(Unmanaged.passUnretained(self).toOpaque())
        unsafe uv_check_start(check.raw) { handle in
            guard let data = unsafe handle?.pointee.data else { return }
            unsafe Unmanaged<UVDriver>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.hasPolled() }
        }
        unsafe check.unreference()
        unsafe self.check = consume check
        alarm = try unsafe UVAlarm(loop: loop)
    }

    // MARK: Sleeping

    func look() {
        closeReleased()
        _ = notes.begin()
        _ = unsafe uv_run(loop, UV_RUN_NOWAIT)
    }

    func wait(until moment: Moment?, now: Int64) {
        closeReleased()
        // Errors that came up early are waiting: look, do not sleep.
        guard !notes.begin() else {
            _ = unsafe uv_run(loop, UV_RUN_NOWAIT)
            return
        }
        alarm?.set(for: moment, now: now)
        mayBlock = true
        _ = unsafe uv_run(loop, UV_RUN_ONCE)
        mayBlock = false
    }

    /// libuv is about to poll: the last moment at which a wake-up that came meanwhile can keep it
    /// from blocking.
    private func isAboutToPoll() {
        guard mayBlock else { return }
        guard word.fallAsleep() else { return unsafe uv_stop(loop) }
        // libuv from 1.45 on does not do it by itself, and would sleep longer by what passed since.
        if alarm?.isCoarse == true { unsafe uv_update_time(loop) }
    }

    private func hasPolled() {
        if mayBlock { word.awaken() }
    }

    // MARK: Descriptors

    func forEachReady(_ body: (Readiness) -> Void) {
        guard !notes.notes.isEmpty else { return }
        for note in notes.notes {
            let report = note.watch.report(of: note, epoll: epoll)
            if !report.events.isEmpty { body(report) }
        }
        notes.clear()
    }

    func watch(
        _ orders: [WatchOrder],
        ifCurrent isCurrent: (WatchOrder) -> Bool,
        refused: (WatchOrder) -> Void
    ) {
        // Other threads wait while this lasts, so that none withdraws and closes a descriptor
        // which libuv has half in hand.
        uvRemote.withDescriptors { descriptors in
            var prepared: [WatchOrder] = []
            for order in orders where isCurrent(order) {
                do {
                    try start(order, &descriptors)
                    prepared.append(order)
                } catch {
                    giveUp(order, &descriptors, refused)
                }
            }
            flush()
            for order in prepared {
                do {
                    try watches[order.descriptor]?.arm(order.events ?? [], epoll: descriptors.epoll)
                } catch {
                    giveUp(order, &descriptors, refused)
                }
            }
        }
    }

    private func giveUp(
        _ order: WatchOrder,
        _ descriptors: inout WatchedDescriptors,
        _ refused: (WatchOrder) -> Void
    ) {
        watches.removeValue(forKey: order.descriptor)?.close()
        descriptors.release(order.descriptor)
        refused(order)
    }

    /// Makes sure that libuv knows the descriptor, by a `uv_poll` of this registration.
    private func start(
        _ order: WatchOrder,
        _ descriptors: inout WatchedDescriptors
    ) throws(UVError) {
        let descriptor = order.descriptor
        if let watch = watches[descriptor], watch.registration != order.registration {
            watch.close()
            watches[descriptor] = nil
        }
        if watches[descriptor] == nil {
            descriptors.take(descriptor)
            watches[descriptor] = try unsafe UVWatch(
                descriptor,
                registration: order.registration,
                loop: loop,
                notes: notes
            )
        }
        guard let watch = watches[descriptor], watch.needsStart else { return }
        try watch.start(epoll: descriptors.epoll)
        needsFlush = true
    }

    /// Has libuv tell the kernel of new descriptors now, before the kernel is told what is really
    /// wanted.
    private func flush() {
        guard needsFlush else { return }
        needsFlush = false
        notes.isMuted = true
        _ = unsafe uv_run(loop, UV_RUN_NOWAIT)
        notes.isMuted = false
    }

    func rearm(_ order: WatchOrder) -> Bool {
        var isCarriedOut = true
        uvRemote.withDescriptors { descriptors in
            guard let watch = watches[order.descriptor], watch.registration == order.registration
            else { return }
            guard let events = order.events else { return watch.pause(epoll: descriptors.epoll) }
            do {
                try watch.arm(events, epoll: descriptors.epoll)
            } catch {
                isCarriedOut = false
            }
        }
        return isCarriedOut
    }

    /// Closes the `uv_poll`s of descriptors that nobody watches any more.
    ///
    /// libuv knows them by their numbers, which may be those of other files by now.
    private func closeReleased() {
        guard uvRemote.hasReleased else { return }
        uvRemote.withDescriptors { descriptors in
            for descriptor in descriptors.takeReleased() {
                watches.removeValue(forKey: descriptor)?.close()
            }
        }
    }

    // MARK: The end

    func close() {
        uvRemote.close()
        for watch in watches.values { watch.close() }
        watches = [:]
        alarm.take()?.close()
        unsafe async.take()?.close()
        unsafe prepare.take()?.close()
        unsafe check.take()?.close()
        while unsafe uv_loop_close(loop) == UV_EBUSY.rawValue {
            _ = unsafe uv_run(loop, UV_RUN_NOWAIT)
        }
        unsafe loop.deallocate()
    }
}
