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

    /// The names of this process: the lock keeps other processes out, this keeps threads out.
    private static let claims = Guarded<(owner: CInt, keys: Set<PortFiles.Key>)>((0, []))

    /// Takes a name that nobody has, or whose owner is dead.
    init(_ files: PortFiles) throws(MessagePortError) {
        self.files = files
        guard Self.reserve(files.key) else { throw .nameTaken }
        do {
            held = Guarded(Held(lock: try Self.lock(files)))
        } catch {
            Self.giveBack(files.key)
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
    /// The socket gets its name when it listens already: who finds the name finds somebody there.
    func listen(backlog: Int) throws(MessagePortError) -> Descriptor {
        try checkNobodyServes()
        try removeSocket(at: files.unfinished)
        let address = try files.address(of: files.unfinished)
        let files = files
        let socket = try translating { () throws(UVError) in
            let socket = try Stream.unixSocket()
            try socket.bind(to: address)
            try socket.listen(backlog: backlog)
            try Files.rename(files.unfinished, to: files.socket)
            return socket
        }
        let identity = try translating { () throws(UVError) in
            try FileStatus(ofPath: files.socket)?.identity
        }
        held.withLock { $0?.socket = identity }
        return socket
    }

    /// Removes what a dead owner left, for a name that nobody wants again.
    func clearAway() throws(MessagePortError) {
        try checkNobodyServes()
        try removeSocket(at: files.unfinished)
        try removeSocket(at: files.socket)
        release()
    }

    /// Removes a socket that a dead owner left, and nothing else.
    private func removeSocket(at path: String) throws(MessagePortError) {
        guard try files.holdsSocket(at: path) else { return }
        try translating { () throws(UVError) in try Files.remove(path) }
    }

    private func checkNobodyServes() throws(MessagePortError) {
        if try files.holdsSocket(at: files.socket), try isServed() { throw .nameTaken }
    }

    /// Whether a live process listens under the name though the lock was free, because somebody
    /// removed the file that it has locked.
    private func isServed() throws(MessagePortError) -> Bool {
        let address = try files.address(of: files.socket)
        return try translating { () throws(UVError) in
            let probe = try Stream.unixSocket()
            do throws(UVError) {
                guard try probe.connect(to: address) == .done else { return true }
            } catch UVError.connectionRefused, UVError.noSuchFile {
                return false
            }
            // The listener of a dead process lives on in children that it forked.
            let listener = try probe.peerCredentials().process
            return listener != Process.id && (listener == 0 || Process.exists(listener))
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
        Self.giveBack(files.key)
    }

    // MARK: The names of the process

    private static func reserve(_ key: PortFiles.Key) -> Bool {
        claims.withLock { claims in
            if claims.owner != Process.id { claims = (Process.id, []) }
            return claims.keys.insert(key).inserted
        }
    }

    private static func giveBack(_ key: PortFiles.Key) {
        claims.withLock { _ = $0.keys.remove(key) }
    }
}
