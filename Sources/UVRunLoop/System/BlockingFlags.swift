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
    }

    private struct State {
        var uses: [CInt: Use] = [:]
        var descriptors: [FileNumber: Set<CInt>] = [:]
    }

    /// The state of this process; a parent restores what it has changed itself.
    private static let state = GuardedPerProcess { State() }

    /// Begins a use of a descriptor.
    ///
    /// - Throws: The system's error if the flags cannot be read or set.
    package static func take(_ descriptor: CInt) throws(UVError) {
        if StandardDescriptors.all.contains(descriptor) { return }
        try state.withLock { state throws(UVError) in
            if state.uses[descriptor] != nil {
                state.uses[descriptor]?.count += 1
                return
            }
            let flags = try accepted(cuv_file_flags(descriptor))
            // A file that was already non-blocking has nothing to restore: nothing is kept for the
            // many sockets of a server.
            if flags & O_NONBLOCK != 0, state.descriptors.isEmpty { return }
            let file = try FileNumber(of: descriptor)
            let wasBlocking = flags & O_NONBLOCK == 0
            if !wasBlocking, state.descriptors[file] == nil { return }
            if wasBlocking { try accepted(cuv_set_file_flags(descriptor, flags | O_NONBLOCK)) }
            state.uses[descriptor] = Use(count: 1, wasBlocking: wasBlocking, file: file)
            state.descriptors[file, default: []].insert(descriptor)
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
            let others = state.descriptors[use.file, default: []].subtracting([descriptor])
            state.uses[descriptor] = nil
            state.descriptors[use.file] = others.isEmpty ? nil : others
            guard use.wasBlocking, isSameFile ?? ((try? FileNumber(of: descriptor)) == use.file)
            else {
                return
            }
            if let other = others.first(where: { cuv_is_same_file($0, descriptor) != 0 }) {
                state.uses[other]?.wasBlocking = true
            } else {
                makeBlocking(descriptor)
            }
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
