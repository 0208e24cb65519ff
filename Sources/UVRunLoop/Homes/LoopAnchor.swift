import Synchronization

/// Stands for a loop in what outlives it, and leads other threads to it while it is there.
///
/// It is never released: whoever has read an anchor's address can go to it at any later time, and
/// finds the loop, none, or another loop that uses the anchor by then. That is why nothing is
/// changed through an anchor before what named it has been looked at again, under that loop's lock.
final class LoopAnchor: Sendable {
    private let present = Guarded<UVRunLoop?>(nil)
    let generation = ForkCount.current

    /// The loop, unless it has ended.
    var loop: UVRunLoop? {
        UVRunLoop.checkProcess(isCurrent: generation == ForkCount.current)
        return present.withLock { $0 }
    }

    /// Leads to a loop from now on.
    func attach(_ loop: UVRunLoop) { present.withLock { $0 = loop } }

    /// Leads nowhere any more; another loop may use it then.
    func detach() {
        let loop = present.withLock { exchange(&$0, with: nil) }
        Self.spare.current.anchors.withLock { $0.append(self) }
        withExtendedLifetime(loop) {}
    }

    /// An anchor that leads nowhere yet.
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

/// Which loop a timer is in, and so whose lock guards what changes about it.
///
/// A timer in a loop is guarded by the lock of that loop, so that adding, firing and cancelling it
/// take one lock and not two. One in no loop is changed by whoever puts a mark here. A timer comes
/// into a loop and leaves it under the loop's lock; whoever has taken a lock looks here once more
/// before relying on it.
struct TimerOwner: ~Copyable, Sendable {
    /// An anchor's address, nothing, or the mark, which is odd and has the process in it.
    private let word = Atomic<UInt>(Location.nowhere.bits)

    /// A loop, or none, as the word tells.
    struct Location: Equatable {
        let bits: UInt

        static let nowhere = Location(bits: 0)

        fileprivate init(bits: UInt) { self.bits = bits }

        init(_ anchor: LoopAnchor) {
            unsafe bits = UInt(bitPattern: Unmanaged.passUnretained(anchor).toOpaque())
        }

        fileprivate var isMark: Bool { bits & 1 != 0 }

        /// The loop, unless it has ended; `nil` for nowhere, too.
        var loop: UVRunLoop? {
            guard let address = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
            return unsafe Unmanaged<LoopAnchor>.fromOpaque(address)._withUnsafeGuaranteedRef {
                $0.loop
            }
        }
    }

    private static var mark: UInt { UInt(ForkCount.current) << 1 | 1 }

    /// Where it is at this moment.
    var location: Location {
        let location = Location(bits: word.load(ordering: .acquiring))
        return location.isMark ? .nowhere : location
    }

    enum Claim {
        case new, already, elsewhere
    }

    /// Takes a timer that is in no loop into one whose lock the caller holds.
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

    /// Takes the timer out of its loop, whose lock the caller holds.
    func leave() { word.store(Location.nowhere.bits, ordering: .releasing) }

    /// Does something about a timer that is in no loop; `nil` when it is in one.
    ///
    /// The body calls nobody.
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

    /// Waits until another thread has taken its mark away: spins, and then sleeps.
    ///
    /// There is no room in a timer for a wait that the other thread could end, and it hardly ever
    /// lasts.
    private func awaitEnd(of mark: UInt) {
        require(
            mark == Self.mark,
            """
            Another thread was changing this timer when the process was forked, so the child cannot use it. Make a \
            new one in the child.
            """
        )
        var backoff = Backoff()
        while backoff.pause() {
            guard word.load(ordering: .relaxed) == mark else { return }
        }
        sleepBriefly()
    }
}
