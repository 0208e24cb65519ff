import Glibc
import UVRunLoop

/// A file whose lock says that a process lives.
///
/// It is a record lock, the one kind that a forked child does not share: the lock ends with the
/// process that took it, whatever copies of the descriptor live on, and `exec` ends it too. Such a
/// lock does not keep threads of one process apart, and closing any descriptor of the file gives
/// it up, so the caller opens a file once at a time.
struct LockFile: ~Copyable, Sendable {
    /// How opening and locking went.
    enum Outcome: ~Copyable {
        case locked(LockFile)
        case heldByAnother
        /// There is something of another kind, or of another owner, under the name.
        case notTrusted
    }

    private let descriptor: Descriptor

    /// Makes the file if there is none, and locks it without waiting.
    static func lock(_ path: String) throws(UVError) -> Outcome {
        while true {
            let descriptor: Descriptor
            do {
                descriptor = try open(path)
            } catch UVError.isSymbolicLink, UVError.isDirectory, UVError.noDevice {
                return .notTrusted
            }
            guard let status = try FileStatus(of: descriptor), status.kind == .regular,
                status.owner == geteuid()
            else { return .notTrusted }
            if status.permissions != permissions { _ = fchmod(descriptor.number, permissions) }
            guard try takeLock(of: descriptor) else { return .heldByAnother }
            // Whoever held the lock may have removed the file in the meantime, and another process
            // have made and locked a new one. Only the lock of the file that has the name counts.
            if try FileStatus(ofPath: path)?.identity == status.identity {
                return .locked(LockFile(descriptor: descriptor))
            }
        }
    }

    private static let permissions: mode_t = 0o600

    private static func open(_ path: String) throws(UVError) -> Descriptor {
        do {
            return try openOnce(path)
        } catch UVError.noAccess {
            // Made a moment ago under a umask that leaves its owner nothing.
            guard let status = try FileStatus(ofPath: path), status.kind == .regular,
                status.owner == geteuid()
            else { throw .noAccess }
            try Files.setPermissions(of: path, to: permissions)
            return try openOnce(path)
        }
    }

    private static func openOnce(_ path: String) throws(UVError) -> Descriptor {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let mode = permissions
        return Descriptor(owning: try completing { unsafe Glibc.open(path, flags, mode) })
    }

    private static func takeLock(of descriptor: borrowing Descriptor) throws(UVError) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        let number = descriptor.number
        do {
            _ = try completing { unsafe fcntl(number, F_SETLK, &lock) }
            return true
        } catch UVError.wouldBlock, UVError.noAccess {
            return false
        }
    }
}

extension UVError {
    static let isSymbolicLink = UVError(rawValue: -ELOOP)
    static let isDirectory = UVError(rawValue: -EISDIR)
    static let noDevice = UVError(rawValue: -ENXIO)
}
