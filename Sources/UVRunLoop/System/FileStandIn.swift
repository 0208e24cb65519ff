internal import CUVSupport

/// Stands in for a file, which the kernel does not watch because files are always ready.
///
/// It is one end of a socket pair, with one byte to read and room to write. When the end of the
/// file is reached, the other end is closed: the source gets a hang-up, as from a pipe without a
/// writer, and the loop can sleep again.
package final class FileStandIn: Sendable {
    /// The descriptor to watch, until this is closed.
    package let descriptor: CInt
    private let ends: Guarded<Ends>
    let file: CInt
    /// Whether the source ends with the file; a source that writes does not.
    private let canEnd: Bool
    /// A forked child would hang up for its parent, too.
    let process = OwnerProcess()

    private struct Ends: ~Copyable, Sendable {
        var watched: Descriptor?
        /// `nil` after the hang-up.
        var other: Descriptor?
    }

    /// Creates a stand-in for a file; throws for a directory, which cannot be read.
    init(for file: CInt, canEnd: Bool) throws(UVError) {
        var status = cuv_file()
        guard unsafe cuv_file_of(file, &status) == 0, status.is_directory == 0 else {
            throw .notPermitted
        }
        var ends: [CInt] = [-1, -1]
        try accepted(unsafe cuv_socket_pair(&ends))
        // Both are owned before anything is thrown.
        let opened = Descriptor(owning: ends[1])
        let watched = try Descriptor(opened: ends[0])
        let other = try StandardDescriptors.avoided(by: opened)
        try accepted(CInt(unsafe cuv_write(other.number, [UInt8(0)], 1)))
        descriptor = watched.number
        self.ends = Guarded(Ends(watched: watched, other: other))
        self.file = file
        self.canEnd = canEnd
        hangUpAtEnd()
    }

    /// Hangs up if the end of the file was reached.
    package func hangUpAtEnd() {
        guard canEnd, isAtEnd else { return }
        ends.withLock { ends in
            guard let other = ends.other.take() else { return }
            // A forked child may have copies of both ends.
            _ = shutdown(other.number, CInt(SHUT_RDWR))
            other.close()
            var byte: UInt8 = 0
            _ = unsafe read(descriptor, &byte, 1)
        }
    }

    /// Closes both ends; no loop watches the descriptor any more.
    package func close() { ends.withLock { $0 = Ends() } }

    /// Whether there is no more data to read.
    private var isAtEnd: Bool {
        var status = cuv_file()
        return unsafe cuv_file_of(file, &status) != 0 || status.is_at_end != 0
    }
}
