import CUV
internal import UVLibc
import UVRunLoop
import UVRunLoopPorts

/// A `uv_fs_event_t`: libuv's watch on a file or directory, by inotify.
@safe
final class FileEvents: LoopHandle, @unchecked Sendable {
    typealias Change = UVRunLoop.FileWatch.Change

    private let raw: UnsafeMutablePointer<uv_fs_event_t>
    /// The path by which the watch is started again.
    private let path: String
    /// What the path referred to at first.
    private var identity: FileIdentity?
    private let inbox: EventInbox<Change>
    /// How many changes the present poll has found, and the thread's processor time at the first.
    private var changeCount = 0
    private var firstChange: Int64 = 0
    /// Whether the watch was stopped for the rest of the present poll.
    private var isResting = false

    /// Starts to watch a path.
    ///
    /// - Parameters:
    ///   - path: The path of a file or directory.
    ///   - inbox: Gets the changes.
    /// - Throws: ``UVRunLoop/SystemError`` if the path cannot be watched or the loop has ended.
    init(
        _ path: String,
        _ inbox: EventInbox<Change>
    ) throws(UVRunLoop.SystemError) {
        guard !path.utf8.contains(0) else {
            throw UVRunLoop.SystemError(.watch, .invalidArgument)
        }
        let site = try LoopSite(.watch)
        unsafe raw = .allocate(capacity: 1)
        self.path = Self.absolute(path)
        self.inbox = inbox
        super.init(site)
        // It always succeeds.
        unsafe uv_fs_event_init(host.uvLoop, raw)
        unsafe raw.pointee.data = unsafe data
        host.insert(self)
        do {
            try start()
            identity = currentIdentity
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

    private var currentIdentity: FileIdentity? {
        (try? FileStatus(followingPath: path))?.identity
    }

    private func start() throws(UVError) {
        // An empty path does no more than open the loop's inotify descriptor, with the first watch.
        // The true one may take its time, and may be refused, which leaves the descriptor open.
        try host.start {
            let status = host.open { unsafe uv_fs_event_start(raw, Self.fileDidChange, "", 0) }
            return status == UV_ENOENT.rawValue ? 0 : status
        }
        try host.registerInotify()
        try accepted(unsafe uv_fs_event_start(raw, Self.fileDidChange, path, 0))
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
        inbox.change { $0.merge(Change(name: name, kinds: kinds)) }
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
        let goesOn = startsAgain()
        if !goesOn { close() }
        inbox.change(isLast: !goesOn) { $0.merge(Change(name: nil, kinds: .overflowed)) }
    }

    /// Starts the watch again, if the path still refers to the same file.
    private func startsAgain() -> Bool {
        guard case .some = try? start() else { return false }
        return currentIdentity == identity
    }

    override func end() { unsafe close(raw) }
}
