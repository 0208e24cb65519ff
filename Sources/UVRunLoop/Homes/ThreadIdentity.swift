internal import CUVSupport
import Synchronization

/// Distinguishes a thread from all others, past and future ones and those of forked children
/// included.
///
/// `pthread_self()` does not: the system reuses its values.
@usableFromInline
package struct ThreadIdentity: Hashable, Sendable {
    @usableFromInline let number: UInt64

    private static let count = Atomic<UInt64>(0)

    /// Returns the identity of a thread that has none yet.
    ///
    /// - Parameter thread: The system's ID of the thread.
    /// - Returns: ``main`` for the main thread, a new identity for another one.
    static func next(for thread: pid_t) -> ThreadIdentity {
        if thread == ThisProcess.number { return .main }
        return ThreadIdentity(number: count.add(1, ordering: .relaxed).newValue)
    }

    /// The thread whose ID equals the process ID.
    ///
    /// Its identity is different after a fork.
    static var main: ThreadIdentity {
        ThreadIdentity(number: Home.largestNumber - ForkCount.current)
    }

    /// The identity of the calling thread.
    @usableFromInline
    package static var current: ThreadIdentity { ThreadRecord.currentIdentity }
}
