internal import CUVSupport

/// The number of forks between this process and the one that loaded the library.
package enum ForkCount {
    /// The number of forks so far; grows by one in each forked child.
    package static var current: UInt64 { cuv_fork_count() }

    /// The message of a trap.
    static var changeWasInterrupted: String {
        """
        Another thread was changing this object when the process was forked, so the child cannot \
        use it. Create a new one in the child.
        """
    }
}
