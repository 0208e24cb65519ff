import Synchronization

/// Refers to a loop from objects that may outlive it, and for other threads.
///
/// An anchor is never released: a thread that has read an anchor's address can follow it at any
/// later time, and finds the loop, none, or another loop that reuses the anchor. So before anything
/// is changed through an anchor, the reference is checked again under that loop's lock.
final class LoopAnchor: Sendable {
    private let present = Guarded<UVRunLoop?>(nil)
    let generation = ForkCount.current

    /// The loop, unless it has ended.
    var loop: UVRunLoop? {
        UVRunLoop.checkProcess(isCurrent: generation == ForkCount.current)
        return present.withLock { $0 }
    }

    /// Refers to a loop from now on.
    func attach(_ loop: UVRunLoop) { present.withLock { $0 = loop } }

    /// Refers to no loop any more; another loop may reuse the anchor.
    func detach() {
        let loop = present.withLock { exchange(&$0, with: nil) }
        Self.spare.current.anchors.withLock { $0.append(self) }
        withExtendedLifetime(loop) {}
    }

    /// Returns an anchor without a loop.
    static func take() -> LoopAnchor {
        if let anchor = spare.current.anchors.withLock({ $0.popLast() }) { return anchor }
        let anchor = LoopAnchor()
        _ = unsafe Unmanaged.passRetained(anchor)
        return anchor
    }

    /// The anchors of loops that have ended.
    private final class Spare: Sendable {
        let anchors = Guarded<[LoopAnchor]>([])
    }

    private static let spare = PerProcess { Spare() }
}

/// The loop that a timer is in, whose lock guards the timer's state.
///
/// So adding, firing and cancelling a timer take one lock rather than two. A timer in no loop is
/// guarded by a mark stored here. A timer joins and leaves a loop under the loop's lock; a thread
/// that has acquired a lock checks the location again before it relies on it.
struct TimerOwner: ~Copyable, Sendable {
    /// An anchor's address, zero for no loop, or the mark, which is odd and contains the fork
    /// count.
    private let word = Atomic<UInt>(Location.nowhere.bits)

    /// A loop or none, as stored in the word.
    struct Location: Equatable {
        let bits: UInt

        static let nowhere = Location(bits: 0)

        fileprivate init(bits: UInt) { self.bits = bits }

        init(_ anchor: LoopAnchor) {
            unsafe bits = UInt(bitPattern: Unmanaged.passUnretained(anchor).toOpaque())
        }

        fileprivate var isMark: Bool { bits & 1 != 0 }

        /// The loop; `nil` for no loop or one that has ended.
        var loop: UVRunLoop? {
            guard let address = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
            return unsafe Unmanaged<LoopAnchor>.fromOpaque(address)._withUnsafeGuaranteedRef {
                $0.loop
            }
        }
    }

    private static var mark: UInt { UInt(ForkCount.current) << 1 | 1 }

    /// The current location.
    var location: Location {
        let location = Location(bits: word.load(ordering: .acquiring))
        return location.isMark ? .nowhere : location
    }

    enum Claim {
        case new, already, elsewhere
    }

    /// Moves a timer that is in no loop into a loop, whose lock the caller holds.
    func claim(for loop: Location) -> Claim {
        while true {
            let (isNew, found) = word.compareExchange(
                expected: Location.nowhere.bits,
                desired: loop.bits,
                ordering: .acquiringAndReleasing
            )
            if isNew { return .new }
            if found == loop.bits { return .already }
            guard Location(bits: found).isMark else { return .elsewhere }
            awaitEnd(of: found)
        }
    }

    /// Removes the timer from its loop, whose lock the caller holds.
    func leave() { word.store(Location.nowhere.bits, ordering: .releasing) }

    /// Runs the body while the timer is in no loop; returns `nil` if it is in one.
    ///
    /// The body must not call user code.
    func whileUnowned<Result: Sendable>(_ body: () -> Result) -> Result? {
        while true {
            let (isMarked, found) = word.compareExchange(
                expected: Location.nowhere.bits,
                desired: Self.mark,
                ordering: .acquiringAndReleasing
            )
            if isMarked {
                defer { leave() }
                return body()
            }
            guard Location(bits: found).isMark else { return nil }
            awaitEnd(of: found)
        }
    }

    /// Waits until another thread has removed its mark: spins, then sleeps.
    ///
    /// A timer has no room for a lock that blocks, and the wait is almost always short.
    private func awaitEnd(of mark: UInt) {
        require(
            mark == Self.mark,
            """
            Another thread was changing this timer when the process was forked, so the child \
            cannot use it. Create a new one in the child.
            """
        )
        var backoff = Backoff()
        while backoff.pause() {
            guard word.load(ordering: .relaxed) == mark else { return }
        }
        sleepBriefly()
    }
}
