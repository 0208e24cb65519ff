#if DEBUG
import Synchronization

/// Whether an item was used, that is, added to a loop, invalidated, or fired by hand.
///
/// A part of the item, which warns when the item is released without. In release builds it is
/// empty.
package struct UseMark: ~Copyable, Sendable {
    private let kind: StaticString
    private let isUsed: Atomic<Bool>

    /// Makes the mark of a new item.
    ///
    /// - Parameter kind: What the item is, with an article; `nil` for one that need not be used.
    package init(_ kind: StaticString?) {
        self.kind = kind ?? "an item"
        isUsed = Atomic(kind == nil)
    }

    /// Called by each use.
    package func dismiss() { isUsed.store(true, ordering: .relaxed) }

    deinit {
        if !isUsed.load(ordering: .relaxed) { UnusedItems.warn("\(kind)") }
    }
}

/// The warnings of a process.
package enum UnusedItems {
    /// Gets the warnings instead of standard error; returns whether it has taken one.
    package typealias Listener = @Sendable (String) -> Bool

    static let isOn = Atomic<Bool>(!isTurnedOff)
    private static let listener = GuardedPerProcess<Listener?> { nil }

    private static var isTurnedOff: Bool {
        ThisProcess.environment("UVRUNLOOP_WARNS_OF_UNUSED_ITEMS") == "0"
    }

    package static func setListener(_ listener: Listener?) {
        let previous = self.listener.withLock { exchange(&$0, with: listener) }
        withExtendedLifetime(previous) {}
    }

    /// Warns that an item is released.
    ///
    /// Never inlined, so that a breakpoint shows where that happens.
    @inline(never)
    fileprivate static func warn(_ kind: String) {
        guard isOn.load(ordering: .relaxed) else { return }
        let warning = """
            UVRunLoop: \(kind) was released that was never added to a loop: its handler could not be \
            called. Keep it, and add it.
            """
        if listener.withLock({ $0 })?(warning) == true { return }
        ThisProcess.writeToStandardError(warning)
    }
}
#else
/// Does nothing: only debug builds warn of items that were never added to a loop.
package struct UseMark: ~Copyable, Sendable {
    @inlinable
    package init(_ kind: StaticString?) {}

    @inlinable
    package func dismiss() {}
}
#endif
