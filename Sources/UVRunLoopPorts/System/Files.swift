internal import UVLibc
import UVRunLoop

/// System calls that change directory entries and permissions.
enum Files {
    /// Makes a directory that only its owner may access, whatever the process's umask.
    ///
    /// Returns `false` if the path exists.
    static func makePrivateDirectory(_ path: String) throws(UVError) -> Bool {
        if unsafe mkdir(path, 0o700) == 0 {
            try setPermissions(of: path, to: 0o700)
            return true
        }
        if errno == EEXIST { return false }
        throw UVError(rawValue: -errno)
    }

    /// Sets a file's permissions.
    ///
    /// A symbolic link is followed, so use it only for names that nobody else can replace.
    static func setPermissions(of path: String, to permissions: mode_t) throws(UVError) {
        guard unsafe chmod(path, permissions) == 0 else { throw UVError(rawValue: -errno) }
    }

    /// A path that does not depend on the working directory, which is there now.
    static func absolutePath(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(directory) }
        return unsafe "\(String(cString: directory))/\(path)"
    }

    /// Removes an empty directory, if it exists.
    static func removeDirectory(_ path: String) throws(UVError) {
        guard unsafe rmdir(path) != 0, errno != ENOENT else { return }
        throw UVError(rawValue: -errno)
    }

    /// Removes a name, if it exists.
    static func remove(_ path: String) throws(UVError) {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        throw UVError(rawValue: -errno)
    }

    /// Renames a file, replacing an existing one.
    static func rename(_ old: String, to new: String) throws(UVError) {
        guard unsafe UVLibc.rename(old, new) == 0 else { throw UVError(rawValue: -errno) }
    }
}
