internal import CUVSupport

/// Puts descriptors into non-blocking mode while they are watched, and back afterwards.
///
/// libuv wants them non-blocking. The flag belongs to the open file and not to the number: several
/// descriptors may share it, as those of a terminal do. It is given back when the last loop of the
/// process stops watching the last descriptor of the file.
package enum BlockingFlags {
    /// Tells open files apart, if not all of them: descriptors that share a file have the same.
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

    /// This process's; what a parent process has changed is its own to give back.
    private final class Shared: Sendable {
        let state = Guarded(State())
    }

    private static let shared = PerProcess { Shared() }

    /// Begins a use of a descriptor.
    ///
    /// - Throws: What the system says of a descriptor whose flags cannot be read or set.
    package static func take(_ descriptor: CInt) throws(UVError) {
        if StandardDescriptors.all.contains(descriptor) { return }
        try shared.current.state.withLock { state throws(UVError) in
            if state.uses[descriptor] != nil {
                state.uses[descriptor]?.count += 1
                return
            }
            let flags = try accepted(cuv_file_flags(descriptor))
            // A file that is in that mode already, and not by our doing, has nothing to be given
            // back: nothing is kept for the many sockets of a server.
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
    ///   - isSameFile: Whether it still is the file that was taken. Its owner may have closed it
    ///     too early, and the number may be another file's; `nil` when nothing is known.
    package static func giveBack(_ descriptor: CInt, isSameFile: Bool? = nil) {
        shared.current.state.withLock { state in
            state.uses[descriptor]?.count -= 1
            guard let use = state.uses[descriptor], use.count == 0 else { return }
            let others = state.descriptors[use.file, default: []].subtracting([descriptor])
            state.uses[descriptor] = nil
            state.descriptors[use.file] = others.isEmpty ? nil : others
            guard use.wasBlocking, isSameFile ?? ((try? FileNumber(of: descriptor)) == use.file)
            else {
                return
            }
            if let heir = others.first(where: { cuv_is_same_file($0, descriptor) != 0 }) {
                state.uses[heir]?.wasBlocking = true
            } else {
                makeBlocking(descriptor)
            }
        }
    }

    /// Has libuv initialise a `uv_poll`, and takes the flag off a standard descriptor again.
    ///
    /// Later it could not be done for sure: a signal may end the process at any time. libuv needs
    /// the flag for nothing, and one read of what is ready does not block.
    static func keepingStandard(_ descriptor: CInt, _ initialise: () -> CInt) -> CInt {
        guard StandardDescriptors.all.contains(descriptor) else { return initialise() }
        // Under the lock, so that another loop's thread does not take libuv's flag for the file's.
        return shared.current.state.withLock { _ in
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
