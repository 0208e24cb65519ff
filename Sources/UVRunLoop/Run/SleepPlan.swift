/// The plan of a sleeping loop, as far as its timers are concerned.
typealias SleepPlan = GenericSleepPlan<SystemWord>

/// When a sleep ends at the latest, for threads that change timers meanwhile.
///
/// A timer whose date is later cannot have decided when the sleep ends, and does not end it. To
/// add, change or remove it need not wake the loop, unless that changes what a run's view of the
/// mode shows, and so the version: the first timer of a mode, and the last one that leaves.
///
/// A sender first changes the engine under its lock, then reads from ``WakeState`` whether the loop
/// sleeps, then this plan. If it was too late for the lock under which the sleep was decided on, it
/// sees the loop asleep with the plan of that sleep or of a later one, or awake. In the last case
/// it marks the change as ever. A later sleep was decided on with the change.
struct GenericSleepPlan<Word: AtomicWord & ~Copyable>: ~Copyable, Sendable {
    private let end = Word(0)
    private let version = Word(0)

    /// Stores the plan of a sleep; called on the loop's thread before it falls asleep.
    ///
    /// - Parameters:
    ///   - end: When the sleep ends at the latest; `.max` for no date.
    ///   - version: The version of the contents on which that was decided.
    @inline(__always)
    func begin(until end: Int64, version: UInt64) {
        self.end.storeReleasing(UInt64(bitPattern: end))
        self.version.storeReleasing(version)
    }

    /// Whether the sleep ends before a date, with contents that still have the version.
    ///
    /// > Threading: Any thread that has seen the loop asleep.
    func endsBefore(_ date: Int64, version: UInt64) -> Bool {
        Int64(bitPattern: end.loadRelaxed()) < date && self.version.loadRelaxed() == version
    }
}
