import UVRunLoop

/// The files of a name.
struct PortFiles: Hashable, Sendable {
    /// Identifies a name within a process, whatever the path of its directory.
    struct Key: Hashable, Sendable {
        let directory: FileIdentity
        let stem: String
    }

    private enum Suffix: String, CaseIterable {
        case socket = ".port"
        case lock = ".lock"
    }

    let key: Key
    /// The path of the owner's listener.
    let socket: String
    /// The path of the file that the owner has locked.
    let lock: String

    init(directory: PortDirectory, name: PortName) throws(MessagePortError) {
        key = Key(directory: directory.identity, stem: name.stem)
        let path = "\(directory.path)/\(name.stem)"
        socket = path + Suffix.socket.rawValue
        lock = path + Suffix.lock.rawValue
        // All suffixes have the same length, so one check suffices.
        guard socket.utf8.count <= RawAddress.longestPath else { throw .nameTooLong }
    }

    /// The stem of a file's name, if it has one of the suffixes.
    static func stem(of file: String) -> Substring? {
        Suffix.allCases.first { file.hasSuffix($0.rawValue) }
            .map { file.dropLast($0.rawValue.count) }
    }

    /// The socket's address.
    func address() throws(MessagePortError) -> RawAddress {
        guard let address = RawAddress(unixPath: socket) else { throw .nameTooLong }
        return address
    }

    /// Whether the user's socket exists.
    ///
    /// - Throws: ``UVRunLoop/MessagePortError/Code/fileNotTrusted`` if another file has the path.
    func holdsSocket() throws(MessagePortError) -> Bool {
        let status = try translating { () throws(UVError) in try FileStatus(ofPath: socket) }
        guard let status else { return false }
        guard status.kind == .socket, status.owner == Process.user else {
            throw .fileNotTrusted(socket)
        }
        return true
    }
}
