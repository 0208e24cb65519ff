import UVRunLoop

/// The directory in which names are: one that belongs to the user and that nobody else may enter.
///
/// `$XDG_RUNTIME_DIR/uvrunloop`, where that variable can be trusted, and else
/// `/tmp/uvrunloop-<user>`. What is found there is checked and not mended: a directory that is a
/// symbolic link, another user's or open to others is refused.
struct PortDirectory: Hashable, Sendable {
    /// What the choice depends on.
    struct Surroundings: Sendable {
        var runtimeDirectory: String?
        var temporaryDirectory = "/tmp"
        /// Whether the process has rights that whoever set the environment may not have.
        var isPrivileged: Bool
        var user: UInt32

        static var present: Surroundings {
            Surroundings(
                runtimeDirectory: Process.environment("XDG_RUNTIME_DIR"),
                isPrivileged: Process.isPrivileged,
                user: Process.user
            )
        }
    }

    let path: String
    let identity: FileIdentity

    /// The directory of this process, made if there is none.
    static func present() throws(MessagePortError) -> PortDirectory {
        try PortDirectory(in: .present)
    }

    init(in surroundings: Surroundings) throws(MessagePortError) {
        if let parent = try surroundings.trustedRuntimeDirectory {
            path = parent + "/uvrunloop"
        } else {
            let parent = surroundings.temporaryDirectory
            try Self.checkSharedParent(parent, user: surroundings.user)
            path = "\(parent)/uvrunloop-\(surroundings.user)"
        }
        let path = path
        try translating { () throws(UVError) in _ = try Files.makePrivateDirectory(path) }
        guard let status = try Self.status(path), status.isPrivateDirectory(of: surroundings.user)
        else { throw .directoryNotTrusted(path) }
        identity = status.identity
    }

    /// In a directory where others could rename or replace ours, no check would last.
    private static func checkSharedParent(
        _ path: String,
        user: UInt32
    ) throws(MessagePortError) {
        let status = try translating { () throws(UVError) in
            try FileStatus(followingPath: path)
        }
        guard let status, status.kind == .directory, status.owner == 0 || status.owner == user,
            status.permissions & 0o022 == 0 || status.permissions & 0o1000 != 0
        else { throw .directoryNotTrusted(path) }
    }

    fileprivate static func status(_ path: String) throws(MessagePortError) -> FileStatus? {
        try translating { () throws(UVError) in try FileStatus(ofPath: path) }
    }

    /// What files stand for a name.
    func files(of name: PortName) throws(MessagePortError) -> PortFiles {
        try PortFiles(directory: self, name: name)
    }
}

extension PortDirectory.Surroundings {
    /// The runtime directory, if it is what its specification promises.
    fileprivate var trustedRuntimeDirectory: String? {
        get throws(MessagePortError) {
            guard !isPrivileged, var path = runtimeDirectory, path.utf8.first == UInt8(ascii: "/")
            else { return nil }
            // With a slash at its end, the path of a symbolic link would lead to what it points to.
            while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
            // What cannot be looked at is not trusted either.
            let status = try? PortDirectory.status(path)
            return status?.isPrivateDirectory(of: user) ?? false ? path : nil
        }
    }
}

extension FileStatus {
    fileprivate func isPrivateDirectory(of user: UInt32) -> Bool {
        kind == .directory && owner == user && permissions & 0o777 == 0o700
    }
}

/// The files that stand for a name.
struct PortFiles: Hashable, Sendable {
    /// Tells names apart within a process, whatever path leads to their directory.
    struct Key: Hashable, Sendable {
        let directory: FileIdentity
        let stem: String
    }

    private enum Ending: String, CaseIterable {
        case socket = ".port"
        case lock = ".lock"
        case unfinished = ".made"
    }

    let key: Key
    /// Where the owner of the name listens.
    let socket: String
    /// What the owner holds locked.
    let lock: String
    /// Where the owner's socket is until it listens.
    let unfinished: String

    fileprivate init(directory: PortDirectory, name: PortName) throws(MessagePortError) {
        key = Key(directory: directory.identity, stem: name.stem)
        let path = "\(directory.path)/\(name.stem)"
        socket = path + Ending.socket.rawValue
        lock = path + Ending.lock.rawValue
        unfinished = path + Ending.unfinished.rawValue
        // All endings are of one length, so a name that fits fits with each.
        guard socket.utf8.count <= RawAddress.longestPath else { throw .nameTooLong }
    }

    /// What a file's name begins with if it is one of such files; `nil` if not.
    static func stem(of file: String) -> Substring? {
        Ending.allCases.first { file.hasSuffix($0.rawValue) }
            .map { file.dropLast($0.rawValue.count) }
    }

    /// The socket's address.
    func address(of path: String) throws(MessagePortError) -> RawAddress {
        guard let address = RawAddress(unixPath: path) else { throw .nameTooLong }
        return address
    }

    /// Whether a socket of the user's is at one of the paths.
    ///
    /// - Throws: ``UVRunLoop/MessagePortError/fileNotTrusted(_:)`` when something else is.
    func holdsSocket(at path: String) throws(MessagePortError) -> Bool {
        let status = try translating { () throws(UVError) in try FileStatus(ofPath: path) }
        guard let status else { return false }
        guard status.kind == .socket, status.owner == Process.user else {
            throw .fileNotTrusted(path)
        }
        return true
    }
}
