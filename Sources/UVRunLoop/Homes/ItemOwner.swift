import Synchronization

/// Which loop an item is in, and whether the item is valid, in one word.
///
/// Timers, observers and ports are in one loop at a time, and the lock of that loop guards what
/// changes in them. So adding, removing and serving an item need no lock of its own. A thread reads
/// the word, acquires the loop's lock and reads the word again; the item enters and leaves a loop
/// under that lock. A thread that changes an item in no loop makes the item busy meanwhile, and so
/// does one that has removed a port and still has to stop the kernel's watching. Nobody waits for a
/// busy item while holding a lock, because the thread that made it busy may be waiting for that
/// lock.
///
/// Custom sources may be in several loops at once, so no loop's lock can guard them: they have a
/// lock of their own, which is acquired before the loop's.
struct ItemOwner: ~Copyable, Sendable {
    /// An anchor's address, zero for no loop, or busy, which contains the fork count; and the
    /// bit of an invalid item.
    private let word = Atomic<UInt>(Location.nowhere.bits)

    private static let invalidBit: UInt = 1
    private static let busyBit: UInt = 2
    private static var busy: UInt { UInt(ForkCount.current) << 2 | busyBit }

    /// A loop or none, as stored in the word.
    struct Location: Equatable {
        let bits: UInt

        static let nowhere = Location(bits: 0)

        fileprivate init(bits: UInt) { self.bits = bits }

        init(_ anchor: LoopAnchor) {
            unsafe bits = UInt(bitPattern: Unmanaged.passUnretained(anchor).toOpaque())
        }

        /// The loop; `nil` for no loop or one that has ended.
        var loop: UVRunLoop? { withAnchor { $0.loop } ?? nil }

        /// Whether there is no loop, or it is not one of the process that forked this one.
        var isInThisProcess: Bool { withAnchor { $0.isThisProcess } ?? true }

        /// Traps if the loop is one of the process that forked this one.
        func checkProcess() { withAnchor { $0.checkProcess() } }

        @discardableResult
        @inline(__always)
        private func withAnchor<Result>(_ body: (LoopAnchor) -> Result) -> Result? {
            guard let address = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
            return unsafe Unmanaged<LoopAnchor>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
        }
    }

    /// Whether the item was not invalidated.
    @inline(__always)
    var isValid: Bool { word.load(ordering: .acquiring) & Self.invalidBit == 0 }

    /// The current location; nowhere while the item is busy.
    @inline(__always)
    var location: Location {
        let word = word.load(ordering: .acquiring)
        return word & Self.busyBit == 0 ? Location(bits: word & ~Self.invalidBit) : .nowhere
    }

    /// Whether the item is in the calling thread's loop.
    var isInLoopOfThisThread: Bool { ThreadRecord.isCurrentLoop(at: location) }

    /// Whether the item is in a loop, whose lock the caller holds.
    @inline(__always)
    func isIn(_ loop: Location) -> Bool { word.load(ordering: .acquiring) == loop.bits }

    // MARK: Under the lock of the item's loop, or while the item is busy

    enum Claim {
        case new, already, elsewhere, invalid
        /// The caller has to try again when the item is no longer busy.
        case isBusy
    }

    /// Moves an item that is valid and in no loop into a loop, whose lock the caller holds.
    @inline(__always)
    func claim(for loop: Location) -> Claim {
        let (isNew, found) = word.compareExchange(
            expected: Location.nowhere.bits,
            desired: loop.bits,
            ordering: .acquiringAndReleasing
        )
        if isNew { return .new }
        if found == loop.bits { return .already }
        if found & Self.busyBit != 0 { return .isBusy }
        return found == Self.invalidBit ? .invalid : .elsewhere
    }

    /// Makes the item invalid; it has to leave its loop next.
    @inline(__always)
    func invalidate() {
        word.store(word.load(ordering: .relaxed) | Self.invalidBit, ordering: .releasing)
    }

    /// Removes the item from its loop, or makes a busy one free.
    ///
    /// - Parameter staysBusy: Whether the item is busy from now on, until it leaves again.
    @inline(__always)
    func leave(staysBusy: Bool = false) {
        let validity = word.load(ordering: .relaxed) & Self.invalidBit
        word.store(staysBusy ? validity | Self.busy : validity, ordering: .releasing)
    }

    // MARK: Without a lock

    /// Runs the body while the item is in no loop; returns `nil` if it is in one.
    ///
    /// The body must not call user code.
    func whileUnowned<Result: Sendable>(_ body: () -> Result) -> Result? {
        while true {
            let found = word.load(ordering: .relaxed)
            if found & Self.busyBit != 0 {
                waitWhileBusy()
            } else if found & ~Self.invalidBit != Location.nowhere.bits {
                return nil
            } else if word.compareExchange(
                expected: found,
                desired: found | Self.busy,
                ordering: .acquiringAndReleasing
            ).exchanged {
                defer { leave() }
                return body()
            }
        }
    }

    /// Waits while another thread keeps the item busy: spins, then sleeps.
    ///
    /// An item has no room for a lock that blocks, and the wait is almost always short. Not
    /// inlined, because nearly no call has to wait.
    @inline(never)
    func waitWhileBusy() {
        var backoff = Backoff()
        while case let found = word.load(ordering: .acquiring), found & Self.busyBit != 0 {
            require(found & ~Self.invalidBit == Self.busy, ForkCount.changeWasInterrupted)
            if !backoff.pause() { sleepBriefly() }
        }
    }
}
