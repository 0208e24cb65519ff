import CUV
internal import CUVSupport

/// One watched descriptor: its `uv_poll`, and the events that the kernel reports.
///
/// libuv is started once, for all events. The events wanted are set directly in libuv's epoll set:
/// this takes one system call instead of two, and for a descriptor that its owner has closed it
/// returns an error where libuv would abort the process.
@safe
final class UVWatch {
    typealias Events = UVRunLoop.DescriptorEvents

    let descriptor: CInt
    /// Distinguishes this use of the number from earlier ones.
    let registration: UInt64
    private let reports: ReadyReports
    @safe @exclusivity(unchecked) private var handle: UVHandle<uv_poll_t>?
    /// Whether the current poll has already reported the descriptor.
    @safe @exclusivity(unchecked) private var isNoted = false
    @safe @exclusivity(unchecked) private var wanted: Events = []
    /// Whether the peer has shut down its writing side.
    ///
    /// The kernel would report that forever, so it is masked.
    @safe @exclusivity(unchecked) private var peerIsDone = false
    /// Whether libuv may hide a hang-up of the descriptor while it is writable.
    private lazy var mayHideHangUp = cuv_may_hide_hang_up(descriptor) != 0

    init(
        _ descriptor: CInt,
        registration: UInt64,
        loop: UnsafeMutablePointer<uv_loop_t>,
        reports: ReadyReports
    ) throws(UVError) {
        self.descriptor = descriptor
        self.registration = registration
        self.reports = reports
        let created = try unsafe UVHandle<uv_poll_t> { raw in
            BlockingFlags.keepingStandard(descriptor) {
                unsafe uv_poll_init(loop, raw, descriptor)
            }
        }
        unsafe created.unreference()
        unsafe created.setData(Unmanaged.passUnretained(self).toOpaque())
        unsafe handle = consume created
    }

    func close() { unsafe handle.take()?.close() }

    // MARK: Watching

    /// Whether libuv has to be started for the descriptor: it never was, or it stopped after an
    /// error.
    var needsStart: Bool {
        guard let raw = unsafe handle?.generic else { return false }
        return unsafe uv_is_active(raw) == 0
    }

    /// Starts libuv for all events without changing the epoll set, which ``arm(_:in:)`` does.
    func start() throws(UVError) {
        guard let raw = unsafe handle?.raw else { return }
        let everything = CInt(
            bitPattern: UV_READABLE.rawValue | UV_WRITABLE.rawValue | UV_DISCONNECT.rawValue
        )
        try accepted(
            unsafe uv_poll_start(raw, everything) { handle, status, events in
                guard let handle = unsafe handle, let data = unsafe handle.pointee.data else {
                    return
                }
                unsafe Unmanaged<UVWatch>.fromOpaque(data)._withUnsafeGuaranteedRef {
                    if status < 0 { $0.noteFailure() } else { $0.noteReady(uv: events) }
                }
                unsafe uv_stop(handle.pointee.loop)
            }
        )
        unsafe cuv_poll_settle(raw)
    }

    /// Sets the events that the kernel reports.
    func arm(_ events: Events, in descriptors: inout WatchedDescriptors) throws(UVError) {
        wanted = events
        try descriptors.arm(descriptor, kernelMask)
    }

    /// Clears the wanted events.
    func pause() { wanted = [] }

    private var kernelMask: UInt32 {
        var mask = wanted.kernelMask
        if !peerIsDone { mask |= CInt(cuv_poll_peer_hang_up) }
        return UInt32(mask)
    }

    // MARK: Reporting

    /// Records what a poll has found.
    ///
    /// While many descriptors are ready, libuv polls several times in one run, with the same
    /// result.
    ///
    /// - Parameters:
    ///   - events: The readiness.
    ///   - mayHaveEnded: Whether there was more than that: an error or a hang-up.
    @inline(__always)
    func noteReady(_ events: Events, mayHaveEnded: Bool) {
        noteReady(events, mayHaveEnded || peerIsDone ? .uncertain : [])
    }

    @inline(__always)
    private func noteReady(_ events: Events, _ details: ReadyReport.Details) {
        if !exchange(&isNoted, with: true) { note(events, details) }
    }

    /// Records what libuv has found.
    ///
    /// It reports a bare hang-up as every event asked for, an error as a closed descriptor, and a
    /// hang-up together with other events not at all. Where one of these is possible, the kernel is
    /// queried again when the report is taken. The hang-up of a connected socket comes with a
    /// disconnection. That of a terminal whose other side was closed does not, nor does that of a
    /// socket which was never connected, and both stay writable.
    private func noteReady(uv events: CInt) {
        let events = UInt32(bitPattern: events)
        var readiness = Events()
        if events & UV_READABLE.rawValue != 0 { readiness.insert(.readable) }
        if events & UV_WRITABLE.rawValue != 0 { readiness.insert(.writable) }
        if events & UV_DISCONNECT.rawValue != 0 || peerIsDone {
            noteReady(readiness, .uncertain)
        } else {
            let isHidden = readiness.contains(.writable) && mayHideHangUp
            noteReady(readiness, isHidden ? [.uncertain, .mayHideHangUp] : [])
        }
    }

    /// Records that libuv has stopped to watch the descriptor, because of an error.
    private func noteFailure() {
        isNoted = true
        note([], [.stopped, .uncertain])
    }

    @inline(__always)
    private func note(_ events: Events, _ details: ReadyReport.Details) {
        var report = ReadyReport(
            descriptor: descriptor,
            registration: registration,
            events: events
        )
        report.details = details
        reports.append(report)
    }

    /// Completes a report that was recorded, and prepares for the next poll.
    ///
    /// - Returns: Whether the report is about this use of the descriptor.
    func complete(_ report: inout ReadyReport, epoll: CInt) -> Bool {
        isNoted = false
        guard report.registration == registration else { return false }
        if report.details.contains(.uncertain) { inspect(&report, epoll: epoll) }
        return true
    }

    /// Queries the kernel about a report that was completed; returns whether there is a hang-up.
    ///
    /// Where `poll` fails, there is none: nothing hints at it.
    func findHangUp(_ report: inout ReadyReport, epoll: CInt) -> Bool {
        guard report.registration == registration, !report.details.contains(.uncertain),
            let condition
        else { return false }
        report.details.insert(.uncertain)
        complete(&report, condition, epoll)
        return report.events.contains(.hangUp)
    }

    /// What `poll` says of the descriptor; `nil` if it fails.
    private var condition: CInt? {
        let condition = cuv_condition(descriptor)
        return condition >= 0 && condition & CInt(cuv_poll_invalid) == 0 ? condition : nil
    }

    private func inspect(_ report: inout ReadyReport, epoll: CInt) {
        guard let condition else { return inspectWithoutPoll(&report, epoll) }
        complete(&report, condition, epoll)
    }

    private func complete(_ report: inout ReadyReport, _ condition: CInt, _ epoll: CInt) {
        report.events = Events(kernelMask: condition)
        if condition & CInt(cuv_poll_hang_up | cuv_poll_error) != 0 {
            if report.events.contains(.readable), hasUnreadBytes(descriptor) {
                report.details.insert(.unread)
            }
            report.events.insert(.hangUp)
        } else if condition & CInt(cuv_poll_peer_hang_up) != 0 {
            maskPeerHangUp(epoll)
        }
    }

    /// Completes a report where `poll` fails, as in a process that may open no descriptors.
    ///
    /// Without a sign of a hang-up, there is none: a write will fail. Once all is read, it is one:
    /// it could not be told from the end of what the peer sends, and would come again for ever.
    private func inspectWithoutPoll(_ report: inout ReadyReport, _ epoll: CInt) {
        if report.details.contains(.mayHideHangUp) { return }
        if hasUnreadBytes(descriptor) {
            report.events.formUnion([.readable, .hangUp])
            report.details.insert(.unread)
        } else {
            report.events = .hangUp
            maskPeerHangUp(epoll)
        }
    }

    private func maskPeerHangUp(_ epoll: CInt) {
        if exchange(&peerIsDone, with: true) { return }
        _ = cuv_epoll_modify(epoll, descriptor, kernelMask)
    }
}
