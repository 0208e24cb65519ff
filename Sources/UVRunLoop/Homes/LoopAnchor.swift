/// Refers to a loop from objects that may outlive it, and for other threads.
///
/// An anchor is never released: a thread that has read an anchor's address can follow it at any
/// later time, and finds the loop, none, or another loop that reuses the anchor. So before anything
/// is changed through an anchor, the reference is checked again under that loop's lock.
final class LoopAnchor: Sendable {
    private let present = Guarded<UVRunLoop?>(nil)
    private let process = OwnerProcess()

    /// The loop, unless it has ended.
    var loop: UVRunLoop? {
        checkProcess()
        return present.withLock { $0 }
    }

    /// Whether it is of this process; a forked child's loops are others.
    var isThisProcess: Bool { process.isCurrent }

    /// Traps in a forked child.
    func checkProcess() { UVRunLoop.checkProcess(isCurrent: isThisProcess) }

    /// Refers to a loop from now on.
    func attach(_ loop: UVRunLoop) { present.withLock { $0 = loop } }

    /// Refers to no loop any more; another loop may reuse the anchor.
    func detach() {
        let loop = present.withLock { exchange(&$0, with: nil) }
        Self.spare.withLock { $0.append(self) }
        withExtendedLifetime(loop) {}
    }

    /// Returns an anchor without a loop.
    static func take() -> LoopAnchor {
        if let anchor = spare.withLock({ $0.popLast() }) { return anchor }
        let anchor = LoopAnchor()
        _ = unsafe Unmanaged.passRetained(anchor)
        return anchor
    }

    /// The anchors of loops that have ended.
    private static let spare = GuardedPerProcess<[LoopAnchor]> { [] }
}
