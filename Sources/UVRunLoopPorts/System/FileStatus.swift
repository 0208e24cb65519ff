import Glibc
import UVRunLoop

/// Tells one file from every other of the system, under whatever name.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let number: UInt64
}

/// What the system knows of a file.
struct FileStatus: Equatable, Sendable {
    enum Kind: Sendable { case directory, regular, socket, other }

    let kind: Kind
    let owner: uid_t
    /// The permission bits, the sticky one included.
    let permissions: mode_t
    let identity: FileIdentity

    /// Of what a path names, a symbolic link itself included; `nil` when there is nothing.
    init?(ofPath path: String) throws(UVError) {
        try self.init { unsafe lstat(path, &$0) }
    }

    /// Of what a path leads to.
    init?(followingPath path: String) throws(UVError) {
        try self.init { unsafe stat(path, &$0) }
    }

    init?(of descriptor: borrowing Descriptor) throws(UVError) {
        let number = descriptor.number
        try self.init { unsafe fstat(number, &$0) }
    }

    private init?(_ call: (inout stat) -> CInt) throws(UVError) {
        var found = stat()
        guard call(&found) == 0 else {
            if errno == ENOENT { return nil }
            throw UVError(rawValue: -errno)
        }
        kind =
            switch found.st_mode & S_IFMT {
            case S_IFDIR: .directory
            case S_IFREG: .regular
            case S_IFSOCK: .socket
            default: .other
            }
        owner = found.st_uid
        permissions = found.st_mode & 0o7777
        identity = FileIdentity(device: UInt64(found.st_dev), number: UInt64(found.st_ino))
    }
}

/// The calls that change what names a directory has.
enum Files {
    /// Makes a directory that only its owner may enter, whatever the process's umask; returns
    /// `false` when there is something under the name.
    static func makePrivateDirectory(_ path: String) throws(UVError) -> Bool {
        if unsafe mkdir(path, 0o700) == 0 {
            try setPermissions(of: path, to: 0o700)
            return true
        }
        if errno == EEXIST { return false }
        throw UVError(rawValue: -errno)
    }

    /// Sets what a file's mode permits.
    ///
    /// A symbolic link is followed, so it is only for names that nobody else can replace.
    static func setPermissions(of path: String, to permissions: mode_t) throws(UVError) {
        guard unsafe chmod(path, permissions) == 0 else { throw UVError(rawValue: -errno) }
    }

    /// Removes an empty directory, if there is one.
    static func removeDirectory(_ path: String) throws(UVError) {
        guard unsafe rmdir(path) != 0, errno != ENOENT else { return }
        throw UVError(rawValue: -errno)
    }

    /// Removes a name, if there is one.
    static func remove(_ path: String) throws(UVError) {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        throw UVError(rawValue: -errno)
    }

    /// Gives a file another name, in place of whatever had it.
    static func rename(_ old: String, to new: String) throws(UVError) {
        guard unsafe Glibc.rename(old, new) == 0 else { throw UVError(rawValue: -errno) }
    }
}
