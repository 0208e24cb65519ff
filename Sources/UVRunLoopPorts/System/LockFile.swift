internal import UVLibc
import UVRunLoop

/// A file whose lock shows that its owner is alive.
///
/// It is a POSIX record lock, the only kind that a forked child does not share: it ends with the
/// process that took it, even if copies of the descriptor remain, and at `exec`. Such a lock does
/// not exclude threads of the same process, and closing any descriptor of the file releases it, so
/// the caller opens a file only once at a time.
struct LockFile: ~Copyable, Sendable {
    /// The result of locking.
    enum Outcome: ~Copyable {
        case locked(LockFile)
        case heldByAnother
        /// The name belongs to a file of another kind or another owner.
        case notTrusted
    }

    private let descriptor: Descriptor

    /// Creates the file if needed, and locks it without waiting.
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
            // A previous holder may have removed the file before this lock was granted, and another
            // process may have created and locked a new one. Only a lock on the file that has the
            // name counts.
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
            // The file was just created under a umask that denies its owner access.
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
        return try Descriptor(opened: completing { unsafe UVLibc.open(path, flags, mode) })
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
