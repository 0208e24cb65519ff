import CUV
internal import UVLibc
import UVRunLoop

/// A `uv_fs_event_t`: libuv's watch on a file or directory, by inotify.
@safe
final class FileEvents: LoopHandle, @unchecked Sendable {
    private let raw: UnsafeMutablePointer<uv_fs_event_t>
    /// The path by which the watch is started again.
    private let path: String
    private let didChange: @Sendable (UVRunLoop.FileWatch.Change) -> Void
    /// How many changes the present poll has found, and the thread's processor time at the first.
    private var changeCount = 0
    private var firstChange: Int64 = 0
    /// Whether the watch was stopped for the rest of the present poll.
    private var isResting = false

    /// Starts to watch a path.
    ///
    /// - Parameters:
    ///   - path: The path of a file or directory.
    ///   - didChange: Called inside libuv with each change.
    /// - Throws: ``UVRunLoop/SystemError`` if the path cannot be watched or the loop has ended.
    init(
        _ path: String,
        didChange: @escaping @Sendable (UVRunLoop.FileWatch.Change) -> Void
    ) throws(UVRunLoop.SystemError) {
        guard !path.utf8.contains(0) else {
            throw UVRunLoop.SystemError(.watch, .invalidArgument)
        }
        let site = try LoopSite(.watch)
        unsafe raw = .allocate(capacity: 1)
        self.path = Self.absolute(path)
        self.didChange = didChange
        super.init(site)
        // It always succeeds.
        unsafe uv_fs_event_init(host.uvLoop, raw)
        unsafe raw.pointee.data = unsafe data
        host.insert(self)
        do {
            try start(path)
        } catch {
            close()
            throw UVRunLoop.SystemError(.watch, error)
        }
    }

    /// The path as it is now: the process may change its directory.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), !path.isEmpty, let folder = unsafe getcwd(nil, 0) else {
            return path
        }
        defer { unsafe free(folder) }
        return unsafe "\(String(cString: folder))/\(path)"
    }

    private func start(_ path: String) throws(UVError) {
        // An empty path does no more than open the loop's inotify descriptor, with the first watch.
        // The true one may take its time.
        try host.start {
            let status = host.open { unsafe uv_fs_event_start(raw, Self.fileDidChange, "", 0) }
            return status == UV_ENOENT.rawValue ? 0 : status
        }
        try accepted(unsafe uv_fs_event_start(raw, Self.fileDidChange, path, 0))
        try host.register()
    }

    private static let fileDidChange: uv_fs_event_cb = { raw, name, events, status in
        guard let data = unsafe raw?.pointee.data else { return }
        let handle = unsafe Unmanaged<FileEvents>.fromOpaque(data).takeUnretainedValue()
        let text = unsafe name.map { unsafe String(cString: $0) }
        handle.fileDidChange(text, UInt32(bitPattern: events), status)
    }

    private func fileDidChange(_ name: String?, _ events: UInt32, _ status: CInt) {
        guard status >= 0, !isClosed else { return }
        var kinds: UVRunLoop.FileWatch.Kinds = []
        if events & UV_RENAME.rawValue != 0 { kinds.insert(.renamed) }
        if events & UV_CHANGE.rawValue != 0 { kinds.insert(.changed) }
        didChange(UVRunLoop.FileWatch.Change(name: name, kinds: kinds))
        note()
        changeCount += 1
        if changeCount % Self.changesAtOnce == 1 { restIfOverdue() }
    }

    // MARK: A path that changes faster than it is read

    /// For how long the changes of one poll are read, in nanoseconds of processor time: a thread
    /// that other programs hold up drops no changes.
    private static let maxReading: Int64 = 20_000_000
    /// How many are read however long it takes: about what the source's inbox bounds by itself.
    private static let changesAtLeast = 2 * UVRunLoop.FileWatch.capacity
    /// How many are read without asking the clock.
    private static let changesAtOnce = 32

    /// Stops the watch once a poll has lasted too long.
    ///
    /// libuv reads until there are no more changes, so while a path changes faster than that it
    /// would go on for ever.
    private func restIfOverdue() {
        let now = processorTime
        if changeCount == 1 { firstChange = now }
        guard changeCount > Self.changesAtLeast, now - firstChange > Self.maxReading else { return }
        isResting = true
        _ = unsafe uv_fs_event_stop(raw)
    }

    private var processorTime: Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    override func eventsWereNoted() {
        changeCount = 0
        guard exchange(&isResting, with: false), !isClosed else { return }
        // A path that cannot be watched any more has no more changes.
        try? start(path)
        didChange(UVRunLoop.FileWatch.Change(name: nil, kinds: .overflowed))
    }

    override func end() { unsafe close(raw) }
}
