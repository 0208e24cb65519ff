internal import UVLibc
import UVRunLoop

/// The result of `stat`.
package struct FileStatus: Equatable, Sendable {
    enum Kind: Sendable { case directory, regular, socket, other }

    let kind: Kind
    let owner: uid_t
    /// The permission bits, including the sticky bit.
    let permissions: mode_t
    package let identity: FileIdentity

    /// The status of a path, without following a symbolic link; `nil` if it does not exist.
    init?(ofPath path: String) throws(UVError) {
        try self.init { unsafe lstat(path, &$0) }
    }

    /// The status of a path, following symbolic links; `nil` if it does not exist.
    package init?(followingPath path: String) throws(UVError) {
        try self.init { unsafe stat(path, &$0) }
    }

    init?(of descriptor: borrowing Descriptor) throws(UVError) {
        let number = descriptor.number
        try self.init { unsafe fstat(number, &$0) }
    }

    private init?(_ call: (inout stat) -> CInt) throws(UVError) {
        var events = stat()
        guard call(&events) == 0 else {
            if errno == ENOENT { return nil }
            throw UVError(rawValue: -errno)
        }
        kind =
            switch events.st_mode & S_IFMT {
            case S_IFDIR: .directory
            case S_IFREG: .regular
            case S_IFSOCK: .socket
            default: .other
            }
        owner = events.st_uid
        permissions = events.st_mode & 0o7777
        identity = FileIdentity(device: UInt64(events.st_dev), number: UInt64(events.st_ino))
    }
}

/// Identifies a file of the system, whatever its name.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let number: UInt64
}
