internal import CUVSupport

/// The number of forks between this process and the one that loaded the library.
package enum ForkCount {
    /// The number of forks so far; grows by one in each forked child.
    package static var current: UInt64 { cuv_fork_count() }

    /// Registers the counting of forks.
    static func watch() { _ = isWatching }

    private static let isWatching: Void = {
        require(
            cuv_watch_forks() == 0,
            "UVRunLoop could not register a fork handler: out of memory."
        )
    }()
}
