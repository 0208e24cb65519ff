import Synchronization

/// The word by which a loop and those who wake it agree, so that no wake-up is lost and none costs
/// a system call while the loop is awake.
///
/// Whoever has something for the loop first stores it where the loop looks, then marks the word,
/// and kicks the loop only if it was asleep and unmarked. The loop removes the mark before it looks
/// at its contents and falls asleep only if the word is still unmarked. Nothing is in fences, so
/// that the thread sanitizer sees it too.
package final class WakeWord: Sendable {
    private static let asleep: UInt8 = 1
    /// The contents have changed: look at them again.
    private static let changed: UInt8 = 2
    /// `wakeUp()` was called: the coming or present sleep ends.
    private static let woken: UInt8 = 4

    private let word = Atomic<UInt8>(0)

    package init() {}

    // MARK: Any thread

    package var isAsleep: Bool { word.load(ordering: .relaxed) & Self.asleep != 0 }

    /// Marks that the contents have changed; answers whether the loop has to be kicked.
    package func noteChange() -> Bool {
        mark(Self.changed)
    }

    /// The same without touching a word that is marked already, after a change which a sequentially
    /// consistent store has told of.
    ///
    /// A mark that is still there then speaks for this change too: the look that removes it comes
    /// later in the one order of all such operations, and finds what was stored.
    package func noteChangeUnlessMarked() -> Bool {
        if word.load(ordering: .sequentiallyConsistent) & Self.changed != 0 { return false }
        return mark(Self.changed)
    }

    /// Records an explicit wake-up; answers whether the loop has to be kicked.
    package func noteWakeUp() -> Bool {
        mark(Self.woken)
    }

    private func mark(_ bit: UInt8) -> Bool {
        word.bitwiseOr(bit, ordering: .acquiringAndReleasing).oldValue == Self.asleep
    }

    // MARK: The loop's own thread

    package var isWoken: Bool { word.load(ordering: .acquiring) & Self.woken != 0 }

    /// Removes the mark, right before the contents are looked at.
    package func beginLook() {
        word.bitwiseAnd(~Self.changed, ordering: .sequentiallyConsistent)
    }

    /// Forgets a wake-up; answers whether there was one.
    @discardableResult
    package func forgetWakeUp() -> Bool {
        // Most passes find nothing to forget. An acquiring load of a clear word orders nothing
        // that a later look at the contents would miss: whoever marks it after this load wakes the
        // coming sleep.
        guard isWoken else { return false }
        let old = word.bitwiseAnd(~Self.woken, ordering: .acquiringAndReleasing).oldValue
        return old & Self.woken != 0
    }

    /// The loop is about to sleep; answers `false` when it must not.
    package func fallAsleep() -> Bool {
        word.compareExchange(
            expected: 0,
            desired: Self.asleep,
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// The sleep is over; marks set meanwhile stay.
    package func awaken() {
        word.bitwiseAnd(~Self.asleep, ordering: .acquiringAndReleasing)
    }
}
