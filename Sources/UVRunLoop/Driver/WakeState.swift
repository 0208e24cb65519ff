/// The word by which a loop and those who wake it agree.
package typealias WakeState = GenericWakeState<SystemWord>

/// The word by which a loop and those who wake it agree, so that no wake-up is lost and none costs
/// a system call while the loop is awake.
///
/// Whoever has something for the loop first stores it where the loop looks, then marks the word,
/// and kicks the loop only if it was asleep and unmarked. The loop removes the mark before it looks
/// at its contents and falls asleep only if the word is still unmarked. Nothing is in fences, so
/// that the thread sanitizer sees it too.
package final class GenericWakeState<Word: AtomicWord & ~Copyable>: Sendable {
    private static var asleep: UInt64 { 1 }
    /// The contents have changed: look at them again.
    private static var changed: UInt64 { 2 }
    /// `wakeUp()` was called: the coming or present sleep ends.
    private static var woken: UInt64 { 4 }

    private let word = Word(0)

    package init() {}

    // MARK: Any thread

    package var isAsleep: Bool { word.loadRelaxed() & Self.asleep != 0 }

    /// Marks that the contents have changed; answers whether the loop has to be kicked.
    package func markChanged() -> Bool {
        mark(Self.changed)
    }

    /// The same without touching a word that is marked already, after a change which a sequentially
    /// consistent store has told of.
    ///
    /// A mark that is still there then speaks for this change too: the look that removes it comes
    /// later in the one order of all such operations, and finds what was stored.
    package func markChangedUnlessMarked() -> Bool {
        if word.loadSequential() & Self.changed != 0 { return false }
        return mark(Self.changed)
    }

    /// Records an explicit wake-up; answers whether the loop has to be kicked.
    package func markWoken() -> Bool {
        mark(Self.woken)
    }

    private func mark(_ bit: UInt64) -> Bool {
        word.bitwiseOr(bit) == Self.asleep
    }

    // MARK: The loop's own thread

    package var isWoken: Bool { word.loadAcquiring() & Self.woken != 0 }

    /// Removes the mark, right before the contents are looked at.
    package func clearChanged() {
        word.bitwiseAndSequential(~Self.changed)
    }

    /// Forgets a wake-up; answers whether there was one.
    @discardableResult
    package func clearWoken() -> Bool {
        // Most passes find nothing to forget. An acquiring load of a clear word orders nothing
        // that a later look at the contents would miss: whoever marks it after this load wakes the
        // coming sleep.
        guard isWoken else { return false }
        return word.bitwiseAnd(~Self.woken) & Self.woken != 0
    }

    /// The loop is about to sleep; answers `false` when it must not.
    package func fallAsleep() -> Bool {
        word.compareExchange(0, Self.asleep) == 0
    }

    /// The sleep is over; marks set meanwhile stay.
    package func awaken() {
        _ = word.bitwiseAnd(~Self.asleep)
    }
}
