import UVRunLoop

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
    }

    let key: Key
    /// Where the owner of the name listens.
    let socket: String
    /// What the owner holds locked.
    let lock: String

    init(directory: PortDirectory, name: PortName) throws(MessagePortError) {
        key = Key(directory: directory.identity, stem: name.stem)
        let path = "\(directory.path)/\(name.stem)"
        socket = path + Ending.socket.rawValue
        lock = path + Ending.lock.rawValue
        // Both endings are of one length, so a name that fits fits with each.
        guard socket.utf8.count <= RawAddress.longestPath else { throw .nameTooLong }
    }

    /// What a file's name begins with if it is one of such files; `nil` if not.
    static func stem(of file: String) -> Substring? {
        Ending.allCases.first { file.hasSuffix($0.rawValue) }
            .map { file.dropLast($0.rawValue.count) }
    }

    /// The socket's address.
    func address() throws(MessagePortError) -> RawAddress {
        guard let address = RawAddress(unixPath: socket) else { throw .nameTooLong }
        return address
    }

    /// Whether a socket of the user's is there.
    ///
    /// - Throws: ``UVRunLoop/MessagePortError/fileNotTrusted(_:)`` when something else is.
    func holdsSocket() throws(MessagePortError) -> Bool {
        let status = try translating { () throws(UVError) in try FileStatus(ofPath: socket) }
        guard let status else { return false }
        guard status.kind == .socket, status.owner == Process.user else {
            throw .fileNotTrusted(socket)
        }
        return true
    }
}
