/// The process that made an object.
///
/// A forked child inherits the object; what it stands for stays its parent's.
package struct OwnerProcess: Sendable {
    private let forkCount: UInt64

    /// The process that calls this.
    package init() {
        ForkCount.watch()
        forkCount = ForkCount.current
    }

    /// Whether it is this process, and not one that forked it.
    package var isCurrent: Bool { forkCount == ForkCount.current }
}
