import CUV
import UVRunLoop

/// A descriptor of a source, which a `uv_poll_t` watches and this object owns.
@safe
class PolledDescriptor: LoopHandle, @unchecked Sendable {
    private let raw: UnsafeMutablePointer<uv_poll_t>
    final let descriptor: CInt
    /// `nil` once the handle was closed.
    private var owned: Descriptor?
    /// The events that libuv watches for.
    private var watched: CInt = 0

    /// Takes over a descriptor, which is closed if this throws.
    init(_ site: LoopSite, owning owned: consuming Descriptor) throws(UVError) {
        unsafe raw = .allocate(capacity: 1)
        descriptor = owned.number
        self.owned = consume owned
        super.init(site)
        do {
            try host.start { unsafe uv_poll_init(host.uvLoop, raw, descriptor) }
        } catch {
            unsafe raw.deallocate()
            throw error
        }
        unsafe raw.pointee.data = unsafe data
        host.insert(self)
    }

    final var isWatching: Bool { watched != 0 }

    /// Watches for some of `UV_READABLE` and `UV_WRITABLE`, or for nothing.
    final func watch(_ events: CInt) throws(UVError) {
        guard !isClosed, events != watched else { return }
        watched = events
        guard events != 0 else {
            unsafe uv_poll_stop(raw)
            return
        }
        let status = unsafe uv_poll_start(raw, events) { raw, status, _ in
            guard let data = unsafe raw?.pointee.data else { return }
            let poll = unsafe Unmanaged<PolledDescriptor>.fromOpaque(data).takeUnretainedValue()
            // After an error libuv has stopped to watch.
            if status < 0 { poll.watched = 0 }
            if !poll.isClosed { poll.isReady() }
        }
        try accepted(status)
        try host.register()
    }

    /// Called inside libuv when the descriptor is ready, or an error is pending on it.
    func isReady() {}

    override func end() {
        unsafe close(raw)
        owned = nil
    }
}
