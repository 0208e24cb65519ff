import CUV
internal import CUVSupport

/// One watched descriptor: its `uv_poll`, and what the kernel is asked to report.
///
/// libuv is told once that everything about the descriptor is wanted. What the kernel really
/// reports is set beside it, directly in libuv's epoll set: that takes one call instead of two,
/// and a descriptor that its owner closed gives an error where libuv would abort the process.
@safe
final class UVWatch {
    typealias Events = UVRunLoop.DescriptorEvents

    let descriptor: CInt
    /// Tells this use of the number from earlier ones.
    let registration: UInt64
    private let notes: ReadyNotes
    @safe @exclusivity(unchecked) private var handle: UVHandle<uv_poll_t>?
    /// The present look has found it ready.
    @safe @exclusivity(unchecked) private var isNoted = false
    @safe @exclusivity(unchecked) private var wanted: Events = []
    /// The other side sends no more.
    ///
    /// The kernel would report that for ever, so it is not asked again.
    @safe @exclusivity(unchecked) private var peerIsDone = false

    init(
        _ descriptor: CInt,
        registration: UInt64,
        loop: UnsafeMutablePointer<uv_loop_t>,
        notes: ReadyNotes
    ) throws(UVError) {
        self.descriptor = descriptor
        self.registration = registration
        self.notes = notes
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

    // MARK: Asking

    /// Whether libuv has to be told of the descriptor: it never was, or it stopped after an error.
    var needsStart: Bool {
        guard let raw = unsafe handle?.generic else { return false }
        return unsafe uv_is_active(raw) == 0
    }

    /// Tells libuv of the descriptor, but not the kernel, which is told what is really wanted.
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
                    $0.noteReady(events, status: status)
                }
                unsafe uv_stop(handle.pointee.loop)
            }
        )
        unsafe cuv_poll_settle(raw)
    }

    /// Has the kernel report exactly these events.
    func arm(_ events: Events, epoll: CInt) throws(UVError) {
        wanted = events
        let mask = kernelMask
        let status = cuv_epoll_modify(epoll, descriptor, mask)
        guard status == UV_ENOENT.rawValue else {
            try accepted(status)
            return
        }
        try accepted(cuv_epoll_add(epoll, descriptor, mask))
    }

    /// Nothing is to be reported any more.
    func pause() { wanted = [] }

    private var kernelMask: UInt32 {
        var mask: CInt = 0
        if wanted.contains(.readable) { mask |= CInt(cuv_poll_in) }
        if wanted.contains(.writable) { mask |= CInt(cuv_poll_out) }
        if !peerIsDone { mask |= CInt(cuv_poll_peer_hang_up) }
        return UInt32(mask)
    }

    // MARK: Noting

    /// Takes down what a look has found.
    func noteReady(_ events: CInt, status: CInt) {
        // While very much is ready, libuv asks the kernel many times in one look and is told the
        // same each time.
        if exchange(&isNoted, with: true), status >= 0 { return }
        notes.append(ReadyNotes.Note(descriptor: descriptor, events: events, status: status))
    }

    // MARK: Reading what was noted

    /// What a note of libuv's means; with it the look is over for this descriptor.
    ///
    /// libuv reports a bare hang-up as everything that was asked for, an error as a closed
    /// descriptor, and a hang-up beside something else not at all. Where one is possible the
    /// kernel is asked once more what is the case.
    func report(of note: ReadyNotes.Note, epoll: CInt) -> Readiness {
        isNoted = false
        let disconnect = CInt(bitPattern: UV_DISCONNECT.rawValue)
        var report = Readiness(
            descriptor: descriptor,
            registration: registration,
            events: Events(uv: note.events),
            isUnwatched: note.status < 0
        )
        if note.status < 0 || note.events & disconnect != 0 || peerIsDone {
            inspect(&report, epoll: epoll)
        }
        return report
    }

    private func inspect(_ report: inout Readiness, epoll: CInt) {
        let condition = cuv_condition(descriptor)
        guard condition >= 0, condition & CInt(cuv_poll_error | cuv_poll_invalid) == 0 else {
            report.events = .hangUp
            return
        }
        report.events = Events(condition: condition)
        if condition & CInt(cuv_poll_hang_up) != 0 {
            report.hasUnread = report.events.contains(.readable) && cuv_unread_bytes(descriptor) > 0
            report.events.insert(.hangUp)
        } else if condition & CInt(cuv_poll_peer_hang_up) != 0, !peerIsDone {
            peerIsDone = true
            _ = cuv_epoll_modify(epoll, descriptor, kernelMask)
        }
    }
}

extension UVRunLoop.DescriptorEvents {
    fileprivate init(uv events: CInt) {
        self = []
        if events & CInt(bitPattern: UV_READABLE.rawValue) != 0 { insert(.readable) }
        if events & CInt(bitPattern: UV_WRITABLE.rawValue) != 0 { insert(.writable) }
    }

    fileprivate init(condition: CInt) {
        self = []
        if condition & CInt(cuv_poll_in) != 0 { insert(.readable) }
        if condition & CInt(cuv_poll_out) != 0 { insert(.writable) }
    }
}
