import CUV
import Glibc

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

        init?(_ descriptor: CInt) {
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else { return nil }
            device = status.st_dev
            inode = status.st_ino
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

    private static let state = Guarded(State())

    package static func take(_ descriptor: CInt) {
        state.withLock { state in
            if state.uses[descriptor] != nil {
                state.uses[descriptor]?.count += 1
                return
            }
            let flags = fcntl(descriptor, F_GETFL)
            // A file that is in that mode already, and not by our doing, has nothing to be given
            // back: nothing is kept for the many sockets of a server.
            if flags & O_NONBLOCK != 0, state.descriptors.isEmpty { return }
            guard flags >= 0, let file = FileNumber(descriptor) else { return }
            let wasBlocking = flags & O_NONBLOCK == 0
            if !wasBlocking, state.descriptors[file] == nil { return }
            if wasBlocking { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
            state.uses[descriptor] = Use(count: 1, wasBlocking: wasBlocking, file: file)
            state.descriptors[file, default: []].insert(descriptor)
        }
    }

    package static func giveBack(_ descriptor: CInt) {
        state.withLock { state in
            state.uses[descriptor]?.count -= 1
            guard let use = state.uses[descriptor], use.count == 0 else { return }
            let others = state.descriptors[use.file, default: []].subtracting([descriptor])
            state.uses[descriptor] = nil
            state.descriptors[use.file] = others.isEmpty ? nil : others
            guard use.wasBlocking else { return }
            if let heir = others.first(where: { cuv_is_same_file($0, descriptor) != 0 }) {
                state.uses[heir]?.wasBlocking = true
            } else {
                makeBlocking(descriptor)
            }
        }
    }

    private static func makeBlocking(_ descriptor: CInt) {
        let flags = fcntl(descriptor, F_GETFL)
        if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
    }
}
