internal import CUVSupport
import Synchronization

/// Tells one thread from every other of this process, past and future ones and those of forked
/// children included.
///
/// `pthread_self()` cannot: the system uses its values again.
@usableFromInline
package struct ThreadIdentity: Hashable, Sendable {
    @usableFromInline let number: UInt64

    private static let count = Atomic<UInt64>(0)

    /// A number for a thread that has none yet.
    static func next() -> ThreadIdentity {
        if cuv_is_main_thread() != 0 { return .main }
        return ThreadIdentity(number: count.add(1, ordering: .relaxed).newValue)
    }

    /// The thread whose id is the process's.
    ///
    /// After a fork that is another one.
    static var main: ThreadIdentity { ThreadIdentity(number: .max - ForkCount.current) }

    /// The calling thread's.
    @usableFromInline
    package static var current: ThreadIdentity { ThreadRecord.currentIdentity }
}
