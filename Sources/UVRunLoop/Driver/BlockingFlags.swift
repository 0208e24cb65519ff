import Glibc
import Synchronization

/// Puts descriptors into non-blocking mode while they are watched, and back afterwards.
///
/// libuv wants them non-blocking. The flag belongs to the open file, which others may share, so it is given back
/// when the last loop of the process stops watching the descriptor.
enum BlockingFlags {
    private struct Use {
        var count: Int
        let wasBlocking: Bool
    }

    private static let uses = Guarded<[CInt: Use]>([:])

    static func take(_ descriptor: CInt) {
        uses.withLock { uses in
            if let use = uses[descriptor] {
                uses[descriptor] = Use(count: use.count + 1, wasBlocking: use.wasBlocking)
                return
            }
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0 else { return }
            let wasBlocking = flags & O_NONBLOCK == 0
            if wasBlocking { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
            uses[descriptor] = Use(count: 1, wasBlocking: wasBlocking)
        }
    }

    static func giveBack(_ descriptor: CInt) {
        uses.withLock { uses in
            guard let use = uses[descriptor] else { return }
            guard use.count == 1 else {
                uses[descriptor] = Use(count: use.count - 1, wasBlocking: use.wasBlocking)
                return
            }
            uses[descriptor] = nil
            let flags = fcntl(descriptor, F_GETFL)
            if use.wasBlocking, flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
        }
    }
}
