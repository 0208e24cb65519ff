internal import UVLibc
import UVRunLoop

/// The file of a Unix-domain listener, which removes it at the end.
struct SocketFile: ~Copyable, Sendable {
    /// Absolute, because the process may change its working directory.
    private let path: String
    private let identity: FileIdentity
    private let process: pid_t

    /// Binds and listens at a path, and records the file's identity.
    ///
    /// With `replacesStale`, a socket of this user at which nobody listens is replaced, unless
    /// another process keeps the directory locked.
    static func listen(
        _ socket: borrowing Descriptor,
        at path: String,
        backlog: Int,
        replacesStale: Bool
    ) throws(UVError) -> SocketFile {
        guard let address = RawAddress(unixPath: path) else { throw .invalidArgument }
        // Between `bind` and `listen` a socket refuses connections like a stale one. The lock keeps
        // two processes that replace a stale socket from removing each other's.
        let lock = DirectoryLock(of: path)
        do {
            try socket.bind(to: address)
        } catch .addressInUse where replacesStale {
            guard !lock.isTaken, try isStale(path, address) else { throw .addressInUse }
            try Files.remove(path)
            try socket.bind(to: address)
        }
        let file = SocketFile(
            path: Files.absolutePath(path),
            identity: try identity(ofNew: path),
            process: Process.id
        )
        try socket.listen(backlog: backlog)
        lock.release()
        return file
    }

    /// Returns the identity of a file that was just made, or removes it.
    private static func identity(ofNew path: String) throws(UVError) -> FileIdentity {
        let status: FileStatus?
        do {
            status = try FileStatus(ofPath: path)
        } catch {
            try? Files.remove(path)
            throw error
        }
        guard let status else { throw .noSuchFile }
        return status.identity
    }

    /// Removes the file, unless another process has replaced it, or this is a forked child, whose
    /// parent still listens.
    deinit {
        guard process == Process.id, let status = try? FileStatus(ofPath: path) else { return }
        if status.identity == identity { try? Files.remove(path) }
    }

    /// Whether a path is a socket of this user at which nobody listens.
    private static func isStale(_ path: String, _ address: RawAddress) throws(UVError) -> Bool {
        guard let status = try FileStatus(ofPath: path), status.kind == .socket,
            status.owner == Process.user
        else { return false }
        do {
            _ = try Stream.socket(family: AF_UNIX).connect(to: address)
            return false
        } catch .connectionRefused {
            return true
        } catch .wrongSocketType {
            return false
        }
    }
}

/// An advisory lock on a directory, held while a listener starts.
///
/// It affects only processes that take it, and no other use of the directory.
private struct DirectoryLock: ~Copyable {
    private static let maximumAttempts = 100
    private static let pause: UInt32 = 1_000

    private var directory: Descriptor?
    /// Whether somebody else has it.
    private(set) var isTaken = false

    /// Takes the lock, or proceeds without it if the directory cannot be opened or another process
    /// holds it too long.
    init(of path: String) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let number = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        directory = Descriptor(owning: number)
        for _ in 0..<Self.maximumAttempts {
            isTaken = flock(number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
            if !isTaken { return }
            usleep(Self.pause)
        }
    }

    consuming func release() {}

    /// Closing the descriptor would not be enough: a child that another thread has just forked has
    /// a copy of it, with which the lock would stay until the child calls `exec`.
    deinit {
        if let directory { _ = flock(directory.number, LOCK_UN) }
    }
}
