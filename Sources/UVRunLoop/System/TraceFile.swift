internal import CUVSupport

/// The file that a recorder writes, which one process has at a time.
struct TraceFile: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Opens and empties the file.
    ///
    /// - Throws: `EWOULDBLOCK` if another process is writing it.
    init(path: String) throws(UVError) {
        descriptor = Descriptor(owning: try accepted(unsafe cuv_open_locked(path)))
    }

    /// Lets another recorder write the file; this one is done.
    func unlock() { _ = cuv_unlock(descriptor.number) }

    /// Appends a text; a text that cannot be written, as on a full disk, is lost.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return }
            _ = unsafe cuv_write_all(descriptor.number, start, bytes.count)
        }
    }
}
