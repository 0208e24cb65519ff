import UVRunLoop

/// The directory in which a user's names are: the same one for every process of the user, whatever
/// its environment, and one that nobody else may enter.
///
/// As a rule it is `/tmp/uvrunloop-<user>`. Where something of another user's has that name, it is
/// `/tmp/uvrunloop-<user>-` and eight digits: made under a name that nobody could guess, and found
/// by whose it is. A ``DirectoryChoice`` sees to it that all processes make one choice.
///
/// What is found is checked. A directory of the user's own that is open to others is refused; one
/// that is not quite open to the user, after an unusual umask, is put right.
struct PortDirectory: Hashable, Sendable {
    /// What the choice depends on.
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

    /// Takes a directory of the user's, if only the user may use it.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - status: What is there; the user's.
    /// - Throws: ``UVRunLoop/MessagePortError/directoryNotTrusted(_:)`` when others may enter it.
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

    /// What files stand for a name.
    func files(of name: PortName) throws(MessagePortError) -> PortFiles {
        try PortFiles(directory: self, name: name)
    }
}
