import UVRunLoop

/// A name that this process owns, from the claim to the release.
///
/// A lock that is held for life decides who owns a name, not a file that is there and not a
/// process id: what dead processes leave behind is taken over by exactly one of those who want it,
/// and what a live one has by nobody.
final class NameClaim: Sendable {
    private struct Held: ~Copyable, Sendable {
        let lock: LockFile
        /// The socket that was put in place.
        var socket: FileIdentity?
    }

    let files: PortFiles
    /// A forked child inherits the object but not the name.
    private let owner = Process.id
    private let held: Guarded<Held?>

    /// Takes a name that nobody has, or whose owner is dead.
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

    /// Listens under the name, in place of what a dead owner left.
    ///
    /// The socket is bound at the very path that it keeps: programs that clear old files away
    /// spare a socket that the kernel knows under its path.
    func listen(backlog: Int) throws(MessagePortError) -> Descriptor {
        try checkNobodyServes()
        try removeSocket()
        let address = try files.address()
        let path = files.socket
        let socket = try translating { () throws(UVError) in try Stream.unixSocket() }
        let identity = try translating { () throws(UVError) in
            try socket.bind(to: address)
            // The umask may have left the user without the right to connect.
            try Files.setPermissions(of: path, to: 0o600)
            try socket.listen(backlog: backlog)
            return try FileStatus(ofPath: path)?.identity
        }
        held.withLock { $0?.socket = identity }
        return socket
    }

    /// Removes what a dead owner left, for a name that nobody wants again.
    func clearAway() throws(MessagePortError) {
        try checkNobodyServes()
        try removeSocket()
        release()
    }

    /// Removes a socket that a dead owner left, and nothing else.
    private func removeSocket() throws(MessagePortError) {
        guard try files.holdsSocket() else { return }
        let path = files.socket
        try translating { () throws(UVError) in try Files.remove(path) }
    }

    private func checkNobodyServes() throws(MessagePortError) {
        if try files.holdsSocket(), try isServed() { throw .nameTaken }
    }

    /// Whether a live process listens under the name though the lock was free, because somebody
    /// removed the file that it has locked.
    private func isServed() throws(MessagePortError) -> Bool {
        let address = try files.address()
        return try translating { () throws(UVError) in
            let probe = try Stream.unixSocket()
            do throws(UVError) {
                guard try probe.connect(to: address) == .done else { return true }
            } catch UVError.connectionRefused, UVError.noSuchFile {
                return false
            }
            // The listener of a dead process lives on in children that it forked.
            let listener = try probe.peerCredentials()
            return listener.process != Process.id && listener.mayBeAlive
        }
    }

    /// Gives the name up; whoever wants it next may have it.
    func release() {
        guard owner == Process.id else { return }
        guard let held = held.withLock({ $0.take() }) else { return }
        // First the socket and then the lock's file, while the lock is held: nobody else touches
        // either until it is let go.
        let socket = try? FileStatus(ofPath: files.socket)
        if let socket, socket.identity == held.socket { try? Files.remove(files.socket) }
        try? Files.remove(files.lock)
        _ = consume held
        PortRegistry.current.release(files.key)
    }
}
