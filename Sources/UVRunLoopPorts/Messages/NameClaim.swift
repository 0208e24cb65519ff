import Synchronization
import UVRunLoop

/// A name that this process owns.
///
/// Ownership is a lock that the owner holds for its lifetime, not the existence of a file and not a
/// process id. Exactly one of several processes takes over a dead owner's name, and none takes a
/// live one's.
final class NameClaim: Sendable {
    private struct Held: ~Copyable, Sendable {
        let lock: LockFile
        /// The identity of the socket file that was made.
        var socket: FileIdentity?
    }

    let files: PortFiles
    /// A forked child inherits the object but not the name.
    private let owner = Process.id
    /// `nil` once a thread has begun to release the name.
    private let held: Guarded<Held?>
    /// Locked during the whole release, so that a second caller of ``release()`` waits for the
    /// first.
    ///
    /// File operations may take long, so it is not a `Lock`, for which see ``PortRegistry``.
    private let releasing = Mutex(())

    /// Claims a name that has no owner, or whose owner is dead.
    init(_ files: PortFiles) throws(MessagePortError) {
        self.files = files
        guard PortRegistry.current.claim(files.key) else { throw .nameTaken }
        do {
            held = Guarded(Held(lock: try Self.lock(files)))
        } catch {
            PortRegistry.current.release(files.key)
            throw error
        }
    }

    private static func lock(_ files: PortFiles) throws(MessagePortError) -> LockFile {
        let outcome = try translating { () throws(UVError) in try LockFile.lock(files.lock) }
        switch consume outcome {
        case .locked(let lock): return lock
        case .heldByAnother: throw .nameTaken
        case .notTrusted: throw .fileNotTrusted(files.lock)
        }
    }

    deinit { release() }

    // MARK: The socket

    /// Listens under the name, replacing the socket of a dead owner.
    ///
    /// The socket is bound at its final path, because programs that clean up temporary files spare
    /// a socket that the kernel lists under that path.
    func listen(backlog: Int) throws(MessagePortError) -> Descriptor {
        try checkNobodyServes()
        try removeSocket()
        let address = try files.address()
        let path = files.socket
        let socket = try translating { () throws(UVError) in try Stream.unixSocket() }
        let identity = try translating { () throws(UVError) in
            try socket.bind(to: address)
            return try FileStatus(ofPath: path)?.identity
        }
        // If what follows fails, ``release()`` removes the file.
        held.withLock { $0?.socket = identity }
        try translating { () throws(UVError) in
            // The umask may have denied the user permission to connect.
            try Files.setPermissions(of: path, to: 0o600)
            try socket.listen(backlog: backlog)
        }
        return socket
    }

    /// Removes the files of a dead owner and releases the name.
    func clearAway() throws(MessagePortError) {
        try checkNobodyServes()
        try removeSocket()
        release()
    }

    /// Removes the socket file of a dead owner; throws for any other file.
    private func removeSocket() throws(MessagePortError) {
        guard try files.holdsSocket() else { return }
        let path = files.socket
        try translating { () throws(UVError) in try Files.remove(path) }
    }

    private func checkNobodyServes() throws(MessagePortError) {
        if try files.holdsSocket(), try isServed() { throw .nameTaken }
    }

    /// Whether a live process listens under the name although the lock was free, because its lock
    /// file was removed.
    private func isServed() throws(MessagePortError) -> Bool {
        let address = try files.address()
        return try translating { () throws(UVError) in
            let probe = try Stream.unixSocket()
            do throws(UVError) {
                guard try probe.connect(to: address) == .done else { return true }
            } catch UVError.connectionRefused, UVError.noSuchFile {
                return false
            }
            // A dead process's listener stays open in children that it forked.
            let listener = try probe.peerCredentials()
            return listener.process != Process.id && listener.mayBeAlive
        }
    }

    /// Releases the name, or waits until another thread has released it.
    ///
    /// The wait is short: a release consists of file operations, and calls no user code. In a
    /// forked child this does nothing, because the thread that it would wait for may be its
    /// parent's.
    func release() {
        guard owner == Process.id else { return }
        releasing.withLock { _ in
            guard let last = held.withLock({ $0.take() }) else { return }
            // The socket is removed before the lock file, while the lock is held: until then no
            // other process changes either.
            let socket = try? FileStatus(ofPath: files.socket)
            if let socket, socket.identity == last.socket { try? Files.remove(files.socket) }
            try? Files.remove(files.lock)
            _ = consume last
            PortRegistry.current.release(files.key)
        }
    }
}
