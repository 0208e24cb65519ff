internal import CUVSupport
import Synchronization

/// The number of forks between this process and the one that loaded the library.
package enum ForkCount {
    private static let forks = Atomic<UInt64>(0)

    /// The number of forks so far; grows by one in each forked child.
    package static var current: UInt64 { forks.load(ordering: .relaxed) }

    /// Registers the counting of forks.
    static func watch() { _ = isWatching }

    private static let isWatching: Void = {
        let status = pthread_atfork(nil, nil) { ForkCount.forks.add(1, ordering: .relaxed) }
        require(status == 0, "UVRunLoop could not register a fork handler: out of memory.")
    }()
}
