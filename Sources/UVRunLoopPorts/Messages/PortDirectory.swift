import UVRunLoop

/// The directory of a user's names: the same for every process of the user, whatever its
/// environment, and accessible to no other user.
///
/// It is normally `/tmp/uvrunloop-<user>`. If another user has taken that name, it is
/// `/tmp/uvrunloop-<user>-` with eight digits: made under an unguessable name, and recognised by
/// its owner. A ``DirectoryChoice`` makes all processes choose the same one.
///
/// An existing directory is checked. If it is accessible to others, it is refused; if the user
/// lacks permissions, as after an unusual umask, they are set.
struct PortDirectory: Hashable, Sendable {
    /// The inputs of the choice.
    struct Surroundings: Sendable {
        var temporaryDirectory = "/tmp"
        var user: UInt32

        static var present: Surroundings { Surroundings(user: Process.user) }
    }

    let path: String
    let identity: FileIdentity

    /// The directory of this process's user, made if there is none.
    static func present() throws(MessagePortError) -> PortDirectory {
        try PortDirectory(in: .present)
    }

    init(in surroundings: Surroundings) throws(MessagePortError) {
        try Self.checkSharedParent(surroundings.temporaryDirectory, user: surroundings.user)
        let choice = DirectoryChoice(surroundings)
        if let chosen = try choice.chosen() {
            self = chosen
        } else {
            self = try choice.make()
        }
    }

    /// Uses an existing directory, if it is accessible to the user only.
    ///
    /// - Parameters:
    ///   - path: The directory's path.
    ///   - status: Its status; the user owns it.
    /// - Throws: ``UVRunLoop/MessagePortError/Code/directoryNotTrusted`` if others may access it.
    init(_ path: String, _ status: FileStatus) throws(MessagePortError) {
        guard status.kind == .directory, status.permissions & 0o077 == 0 else {
            throw .directoryNotTrusted(path)
        }
        if status.permissions & 0o777 != 0o700 {
            try translating { () throws(UVError) in
                try Files.setPermissions(of: path, to: 0o700)
            }
        }
        self.path = path
        identity = status.identity
    }

    /// If others could rename or replace the directory, a check would not last.
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

    /// The files of a name.
    func files(of name: PortName) throws(MessagePortError) -> PortFiles {
        try PortFiles(directory: self, name: name)
    }
}
