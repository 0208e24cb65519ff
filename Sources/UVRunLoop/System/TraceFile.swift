internal import CUVSupport

/// The file that a recorder writes, which one process has at a time.
struct TraceFile: ~Copyable, Sendable {
    private let path: String
    /// Only its recorder's thread writes it, and closes it; `nil` from then on.
    private let descriptor: Guarded<Descriptor?>

    /// Opens and empties the file.
    ///
    /// - Throws: `EWOULDBLOCK` if another process is writing it, `EINVAL` if the path contains a
    ///   zero byte.
    init(path: String) throws(UVError) {
        guard !path.utf8.contains(0) else { throw .invalidArgument }
        descriptor = Guarded(try Descriptor(opened: unsafe cuv_open_locked(path)))
        self.path = path
    }

    /// Closes the file; another recorder may write it.
    ///
    /// A forked child may have a copy of the descriptor, and with it of the lock.
    func close() {
        _ = cuv_unlock(number)
        descriptor.withLock { $0 = nil }
    }

    private var number: CInt { descriptor.withLock { $0?.number ?? -1 } }

    /// Appends a text, or, if it cannot be written, as on a full disk, none of it.
    func write(_ text: String) throws(UVError) {
        var text = text
        let status = text.withUTF8 { bytes -> CInt in
            guard let start = bytes.baseAddress else { return 0 }
            return unsafe cuv_append(number, start, bytes.count)
        }
        try accepted(status)
    }

    /// Says on the standard error that something could not be written.
    func reportFailure(_ error: UVError) {
        ThisProcess.writeToStandardError(
            "UVRunLoop: the timeline \(path) is not complete: \(error)"
        )
    }
}
