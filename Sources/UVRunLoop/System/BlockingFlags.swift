internal import CUVSupport

/// Makes descriptors non-blocking while they are watched, and restores them afterwards.
///
/// libuv requires non-blocking descriptors. The flag belongs to the open file description, which
/// several descriptors may share, as those of a terminal do. It is restored when the last loop of
/// the process stops watching the last descriptor of the file.
package enum BlockingFlags {
    /// Identifies a file; descriptors that share an open file description have the same number.
    private struct FileNumber: Hashable {
        var device: dev_t
        var inode: ino_t

        init(of descriptor: CInt) throws(UVError) {
            var file = cuv_file()
            try accepted(unsafe cuv_file_of(descriptor, &file))
            device = file.device
            inode = file.inode
        }
    }

    private struct Use {
        var count: Int
        var wasBlocking: Bool
        let file: FileNumber
        /// Whether some uses may have begun when the number belonged to another file.
        let isMixed: Bool
    }

    /// The descriptors in use with one file number.
    ///
    /// All eventfds have the same one, for example, and so have all timerfds.
    private struct FileUses {
        /// How many were blocking; each has an open file description of its own.
        var blockingCount = 0
        /// Those that were not, each of which may share the description of one that was.
        var others: Set<CInt> = []

        var isEmpty: Bool { blockingCount == 0 && others.isEmpty }

        mutating func insert(_ descriptor: CInt, wasBlocking: Bool) {
            if wasBlocking { blockingCount += 1 } else { others.insert(descriptor) }
        }

        mutating func remove(_ descriptor: CInt, wasBlocking: Bool) {
            if wasBlocking { blockingCount -= 1 } else { others.remove(descriptor) }
        }
    }

    private struct State {
        var uses: [CInt: Use] = [:]
        var files: [FileNumber: FileUses] = [:]

        mutating func insert(_ descriptor: CInt, _ use: Use) {
            uses[descriptor] = use
            files[use.file, default: FileUses()].insert(descriptor, wasBlocking: use.wasBlocking)
        }

        mutating func remove(_ descriptor: CInt, _ use: Use) {
            uses[descriptor] = nil
            files[use.file]?.remove(descriptor, wasBlocking: use.wasBlocking)
            if files[use.file]?.isEmpty == true { files[use.file] = nil }
        }

        /// Leaves it to another descriptor of the same description to restore the flag.
        ///
        /// - Returns: `false` if none is in use.
        mutating func passOn(_ descriptor: CInt, _ use: Use) -> Bool {
            let heir = files[use.file]?.others.first { cuv_is_same_file($0, descriptor) != 0 }
            guard let heir, var inherited = uses[heir] else { return false }
            remove(heir, inherited)
            inherited.wasBlocking = true
            insert(heir, inherited)
            return true
        }
    }

    /// The state of this process; a parent restores what it has changed itself.
    private static let state = GuardedPerProcess { State() }

    /// Begins a use of a descriptor.
    ///
    /// - Throws: The system's error if the flags cannot be read or set.
    package static func take(_ descriptor: CInt) throws(UVError) {
        try use(descriptor, adding: 1)
    }

    /// Has the uses of a number be those of the file that has it now, because the owner may have
    /// closed the descriptor too early.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - isAnother: Whether it is known to be another file; event descriptors, for example, have
    ///     one file number.
    /// - Throws: The system's error if the flags cannot be read or set.
    package static func renew(_ descriptor: CInt, isAnother: Bool = false) throws(UVError) {
        try use(descriptor, adding: 0, isAnother: isAnother)
    }

    private static func use(
        _ descriptor: CInt,
        adding added: Int,
        isAnother: Bool = false
    ) throws(UVError) {
        if StandardDescriptors.all.contains(descriptor) { return }
        try state.withLock { state throws(UVError) in
            let flags = try accepted(cuv_file_flags(descriptor))
            let wasBlocking = flags & O_NONBLOCK == 0
            let earlier = state.uses[descriptor]
            // A file that was already non-blocking has nothing to restore: nothing is kept for the
            // many sockets of a server.
            if !wasBlocking, earlier == nil, state.files.isEmpty { return }
            let file = try FileNumber(of: descriptor)
            if !wasBlocking, !isAnother, earlier?.file == file {
                state.uses[descriptor]?.count += added
                return
            }
            if wasBlocking { try accepted(cuv_set_file_flags(descriptor, flags | O_NONBLOCK)) }
            if let earlier { state.remove(descriptor, earlier) }
            if !wasBlocking, state.files[file] == nil { return }
            let use = Use(
                count: earlier.map { $0.count + added } ?? 1,
                wasBlocking: wasBlocking,
                file: file,
                isMixed: earlier != nil
            )
            state.insert(descriptor, use)
        }
    }

    /// Ends one use of a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - isSameFile: Whether the number still refers to the file that was taken, which the owner
    ///     may have closed too early; `nil` if unknown.
    package static func giveBack(_ descriptor: CInt, isSameFile: Bool? = nil) {
        state.withLock { state in
            state.uses[descriptor]?.count -= 1
            guard let use = state.uses[descriptor], use.count == 0 else { return }
            state.remove(descriptor, use)
            guard use.wasBlocking else { return }
            // The caller's file may be another than that of later uses.
            let isKnown = use.isMixed ? nil : isSameFile
            guard isKnown ?? ((try? FileNumber(of: descriptor)) == use.file) else { return }
            if !state.passOn(descriptor, use) { makeBlocking(descriptor) }
        }
    }

    /// Initialises a `uv_poll`, and makes a standard descriptor blocking again.
    ///
    /// Doing so later would not be safe, because a signal may end the process at any time. libuv
    /// does not need the flag, and one read of a ready descriptor does not block.
    static func keepingStandard(_ descriptor: CInt, _ initialise: () -> CInt) -> CInt {
        guard StandardDescriptors.all.contains(descriptor) else { return initialise() }
        // Under the lock, so that another loop's thread does not mistake libuv's flag for the
        // file's own.
        return state.withLock { _ in
            let flags = cuv_file_flags(descriptor)
            guard flags >= 0 else { return flags }
            let status = initialise()
            if flags & O_NONBLOCK == 0 { makeBlocking(descriptor) }
            return status
        }
    }

    private static func makeBlocking(_ descriptor: CInt) {
        let flags = cuv_file_flags(descriptor)
        if flags >= 0 { _ = cuv_set_file_flags(descriptor, flags & ~O_NONBLOCK) }
    }
}
