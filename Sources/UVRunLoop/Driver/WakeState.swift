/// The wake state on a word of the machine.
package typealias WakeState = GenericWakeState<SystemWord>

/// Coordinates a sleeping loop with the threads that wake it.
///
/// No wake-up is lost, and none costs a system call while the loop performs its pass. A sender
/// first stores its data, then marks the word, and wakes the loop only if the word was exactly
/// *asleep*. The loop clears the mark before it checks its contents, and falls asleep only if the
/// word is still unmarked. No fences are used, because the thread sanitizer does not see them.
package final class GenericWakeState<Word: AtomicWord & ~Copyable>: Sendable {
    private static var asleep: UInt64 { 1 }
    /// The contents have changed and must be checked again.
    private static var changed: UInt64 { 2 }
    /// `wakeUp()` was called: the current or the next sleep ends.
    private static var woken: UInt64 { 4 }

    private let word = Word(0)

    package init() {}

    // MARK: Any thread

    package var isAsleep: Bool { word.loadAcquiring() & Self.asleep != 0 }

    /// Whether a change or a wake-up is marked: the loop has to return from its wait.
    package var isMarked: Bool { word.loadAcquiring() & (Self.changed | Self.woken) != 0 }

    /// Whether the contents are marked as changed.
    var isMarkedAsChanged: Bool {
        @inline(__always)
        get { word.loadRelaxed() & Self.changed != 0 }
    }

    /// Marks the contents as changed; returns whether the loop has to be woken.
    package func markChanged() -> Bool {
        mark(Self.changed)
    }

    /// Marks the contents as changed unless they are marked already; returns whether the loop has
    /// to be woken.
    ///
    /// The change must have been published by a sequentially consistent store. A mark that is
    /// already set covers it: the loop clears the mark later in the total order of such operations,
    /// and then sees what was stored.
    package func markChangedUnlessMarked() -> Bool {
        if word.loadSequential() & Self.changed != 0 { return false }
        return mark(Self.changed)
    }

    /// Marks an explicit wake-up; returns whether the loop has to be woken.
    package func markWoken() -> Bool {
        mark(Self.woken)
    }

    private func mark(_ bit: UInt64) -> Bool {
        word.bitwiseOr(bit) == Self.asleep
    }

    // MARK: The loop's own thread

    package var isWoken: Bool { word.loadAcquiring() & Self.woken != 0 }

    /// Clears the changed mark, right before the contents are checked.
    package func clearChanged() {
        // It is usually clear. A thread that marks the word after this load keeps the loop awake.
        if isMarkedAsChanged { word.bitwiseAndSequential(~Self.changed) }
    }

    /// Clears a wake-up; returns whether one was pending.
    @discardableResult
    package func clearWoken() -> Bool {
        // Most passes find none. An acquiring load of a clear word suffices: a thread that marks
        // the word after this load ends the next sleep.
        guard isWoken else { return false }
        return word.bitwiseAnd(~Self.woken) & Self.woken != 0
    }

    /// Marks the loop asleep; returns `false` if it must not sleep.
    package func fallAsleep() -> Bool {
        word.compareExchange(0, Self.asleep) == 0
    }

    /// Marks the loop awake; other marks stay.
    package func awaken() {
        _ = word.bitwiseAnd(~Self.asleep)
    }
}
