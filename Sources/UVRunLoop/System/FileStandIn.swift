internal import CUVSupport

/// Stands in for a file that the kernel does not watch because it is always ready.
///
/// It is one end of a pair of sockets, with a byte to read and room to write. When the file was
/// read to its end the other socket is closed, so that the source gets a hang-up, as from a pipe
/// without a writer, and the loop can sleep again.
final class FileStandIn: Sendable {
    private let watched: Descriptor
    private let other: Guarded<Descriptor?>
    private let file: CInt
    /// Whether the file ends when it was read: one that is written does not.
    private let canEnd: Bool

    /// What the loop watches.
    var descriptor: CInt { watched.number }

    /// Makes a stand-in for a file, but not for a directory, of which nothing can be read.
    init(for file: CInt, canEnd: Bool) throws(UVError) {
        var status = cuv_file()
        guard unsafe cuv_file_of(file, &status) == 0, status.is_directory == 0 else {
            throw .notPermitted
        }
        var ends: [CInt] = [-1, -1]
        try accepted(unsafe cuv_socket_pair(&ends))
        watched = Descriptor(owning: ends[0])
        other = Guarded(Descriptor(owning: ends[1]))
        self.file = file
        self.canEnd = canEnd
        _ = unsafe write(ends[1], [UInt8(0)], 1)
        hangUpAtEnd()
    }

    /// Hangs up if the file was read to its end.
    func hangUpAtEnd() {
        guard canEnd, isAtEnd, other.withLock({ $0.take() })?.close() != nil else { return }
        var byte: UInt8 = 0
        _ = unsafe read(descriptor, &byte, 1)
    }

    /// Whether there is nothing more to read.
    private var isAtEnd: Bool {
        var status = cuv_file()
        return unsafe cuv_file_of(file, &status) != 0 || status.is_at_end != 0
    }
}
