import CUV
import UVRunLoop

/// A `uv_fs_event_t`: libuv's watch on a file or directory, by inotify.
@safe
final class FileEvents: LoopHandle, @unchecked Sendable {
    private let raw: UnsafeMutablePointer<uv_fs_event_t>
    private let didChange: @Sendable (UVRunLoop.FileWatch.Change) -> Void

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
    }

    override func end() { unsafe close(raw) }
}
