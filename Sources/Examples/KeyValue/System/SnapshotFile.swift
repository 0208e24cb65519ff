import Glibc

/// An error of reading or writing a file.
struct FileError: Error {
    /// The message.
    let text: String

    init(_ text: String) { self.text = text }

    /// The failed operation, and the system's reason.
    fileprivate init(_ what: String, _ path: String, _ code: CInt = errno) {
        text = "cannot \(what) \(path): \(reason(code))"
    }
}

/// The file that stores the keys between runs.
struct SnapshotFile: Sendable {
    let directory: String
    let name = "keyvalue.snapshot"

    var path: String { "\(directory)/\(name)" }

    // MARK: Locking

    /// Locks the directory until the process ends, so that no other server uses it.
    ///
    /// The directory itself is locked, so no lock file is left behind, and the system releases the
    /// lock when the process is killed.
    func claim() throws(FileError) {
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw FileError("use", directory) }
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            defer { close(folder) }
            throw isTaken
                ? FileError("cannot use \(directory): another server uses it")
                : FileError("lock", directory)
        }
        removeLeftovers()
    }

    /// Removes unfinished files of servers that were killed.
    private func removeLeftovers() {
        // The offset of the name is needed, because an entry may be shorter than its type.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name),
            let folder = opendir(directory)
        else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let bytes = UnsafeRawPointer(entry) + offset
            let file = String(cString: bytes.assumingMemoryBound(to: CChar.self))
            if file.hasPrefix("\(name)."), file.hasSuffix(Self.unfinished) {
                unlink("\(directory)/\(file)")
            }
        }
    }

    /// The suffix of a file that is being written.
    private static let unfinished = ".new"

    // MARK: Writing

    /// Replaces the last snapshot.
    ///
    /// A complete file always exists: the new one is written beside the old one, synchronised and
    /// then renamed.
    func write(_ snapshot: Snapshot) throws(FileError) {
        let temporary = "\(path).\(getpid())\(Self.unfinished)"
        do throws(FileError) {
            try writeBeside(snapshot, temporary)
            guard rename(temporary, path) == 0 else { throw FileError("rename", temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
        try synchronizeDirectory()
    }

    private func writeBeside(_ snapshot: Snapshot, _ path: String) throws(FileError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
        let file = open(path, flags, 0o600)
        guard file >= 0 else { throw FileError("write", path) }
        defer { close(file) }
        var encoder = SnapshotEncoder(snapshot)
        while var piece = encoder.next() {
            while !piece.isEmpty {
                let count = Glibc.write(file, piece, piece.count)
                if count < 0, errno != EINTR { throw FileError("write", path) }
                piece.removeFirst(max(count, 0))
            }
        }
        guard fsync(file) == 0 else { throw FileError("write", path) }
    }

    /// Makes the rename durable.
    private func synchronizeDirectory() throws(FileError) {
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw FileError("open", directory) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw FileError("write", directory) }
    }

    // MARK: Reading

    /// The keys of the file; none if there is no file.
    func read(at now: WallTime) throws(FileError) -> Keyspace {
        // Opening a named pipe would otherwise block until it has a writer.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        if file < 0, errno == ENOENT { return Keyspace() }
        guard file >= 0 else { throw FileError("read", path) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileError("cannot use \(path): it is not a regular file")
        }
        var decoder = SnapshotDecoder()
        var keyspace = Keyspace()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError("read", path) }
            if count == 0 { break }
            try read(buffer[..<count], with: &decoder, into: &keyspace, now)
        }
        try check { () throws(SnapshotError) in try decoder.finish() }
        return keyspace
    }

    private func read(
        _ piece: ArraySlice<UInt8>,
        with decoder: inout SnapshotDecoder,
        into keyspace: inout Keyspace,
        _ now: WallTime
    ) throws(FileError) {
        decoder.append(piece)
        while let entry = try check({ () throws(SnapshotError) in try decoder.next() }) {
            guard entry.expiry > now else { continue }
            keyspace.set(entry.key[...], to: entry.value[...], expiry: entry.expiry, at: now)
        }
    }

    private func check<Value>(
        _ body: () throws(SnapshotError) -> Value
    ) throws(FileError) -> Value {
        do {
            return try body()
        } catch {
            throw FileError("cannot use \(path): \(error.reason)")
        }
    }
}
