import Glibc
import UVRunLoop

/// The file that a Unix-domain listener made, and whether it is still there.
struct SocketFile: ~Copyable, Sendable {
    private let path: String
    private let identity: FileIdentity
    private let process: pid_t

    /// Binds and listens at a path, and remembers the file that this makes.
    ///
    /// A socket of this user's that nobody listens at gives way where that is asked for.
    static func listen(
        _ socket: borrowing Descriptor,
        at path: String,
        backlog: Int,
        replacesStale: Bool
    ) throws(UVError) -> SocketFile {
        guard let address = RawAddress(unixPath: path) else { throw .invalidArgument }
        // Between `bind` and `listen` a socket looks like one that nobody listens at, and two who
        // clear a stale one away must not clear away each other's: all of it is one step.
        let lock = DirectoryLock(of: path)
        do {
            try socket.bind(to: address)
        } catch .addressInUse where replacesStale {
            guard try isStale(path, address) else { throw .addressInUse }
            try Files.remove(path)
            try socket.bind(to: address)
        }
        guard let identity = try FileStatus(ofPath: path)?.identity else { throw .noSuchFile }
        let file = SocketFile(path: path, identity: identity, process: Process.id)
        try socket.listen(backlog: backlog)
        lock.release()
        return file
    }

    /// The file goes with its listener: unless it is somebody else's by now, or this is a forked
    /// child, whose parent still listens.
    deinit {
        guard process == Process.id, let status = try? FileStatus(ofPath: path) else { return }
        if status.identity == identity { try? Files.remove(path) }
    }

    /// Whether a path is a socket of this user's at which nobody listens.
    private static func isStale(_ path: String, _ address: RawAddress) throws(UVError) -> Bool {
        guard let status = try FileStatus(ofPath: path), status.kind == .socket,
            status.owner == Process.user
        else { return false }
        do {
            _ = try Stream.socket(family: AF_UNIX).connect(to: address)
            return false
        } catch .connectionRefused {
            return true
        }
    }
}

/// A lock on a directory, for as long as a listener takes to come up in it.
///
/// It keeps nobody from using the directory: it is among those who ask for it.
private struct DirectoryLock: ~Copyable {
    private static let mostTries = 100
    private static let pause: UInt32 = 1_000

    private var directory: Descriptor?

    /// Takes the lock, or goes without where the directory cannot be opened, or somebody sits on
    /// the lock.
    init(of path: String) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let number = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        directory = Descriptor(owning: number)
        for _ in 0..<Self.mostTries {
            if flock(number, LOCK_EX | LOCK_NB) == 0 { return }
            usleep(Self.pause)
        }
    }

    consuming func release() {}
}
