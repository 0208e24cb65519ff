import Glibc

/// Stands in for a file that the kernel does not watch because it is always ready.
///
/// It is one end of a pair of sockets, with a byte to read and room to write. When the file was
/// read to its end the other socket is closed, so that the source gets a hang-up, as from a pipe
/// without a writer, and the loop can sleep again.
final class FileStandIn: Sendable {
    /// What the loop watches.
    let descriptor: CInt
    private let file: CInt
    /// Whether the file ends when it was read: one that is written does not.
    private let canEnd: Bool
    private let other: Guarded<CInt?>

    /// Makes a stand-in for a file, but not for a directory, of which nothing can be read.
    init(for file: CInt, _ events: UVRunLoop.DescriptorSource.Events) throws(UVError) {
        guard Self.status(of: file).map({ $0.st_mode & S_IFMT != S_IFDIR }) == true else {
            throw .notPermitted
        }
        var ends: [CInt] = [-1, -1]
        let kind = CInt(
            SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        )
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw UVError(rawValue: -errno)
        }
        _ = unsafe Glibc.write(ends[1], [UInt8(0)], 1)
        self.file = file
        descriptor = ends[0]
        canEnd = events.contains(.readable) && !events.contains(.writable)
        other = Guarded(ends[1])
        hangUpAtEnd()
    }

    deinit {
        if let other = other.withLock({ $0 }) { Glibc.close(other) }
        Glibc.close(descriptor)
    }

    /// Hangs up if the file was read to its end.
    func hangUpAtEnd() {
        guard canEnd, isAtEnd, let other = other.withLock({ $0.take() }) else { return }
        var byte: UInt8 = 0
        _ = unsafe Glibc.read(descriptor, &byte, 1)
        Glibc.close(other)
    }

    /// Whether there is nothing more to read: the length is reached, or it is the null device.
    private var isAtEnd: Bool {
        guard let status = Self.status(of: file) else { return true }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return lseek(file, 0, SEEK_CUR) >= status.st_size
        case S_IFCHR: return status.st_rdev == Self.nullDevice
        default: return false
        }
    }

    private static func status(of file: CInt) -> stat? {
        var status = stat()
        return unsafe fstat(file, &status) == 0 ? status : nil
    }

    /// Major number 1, minor number 3, on every Linux.
    private static let nullDevice: dev_t = 1 << 8 | 3
}
