import Synchronization

/// Room for a text that any thread may give an object.
///
/// One word, which stays empty until there is a first text.
package struct LabelSlot: ~Copyable, Sendable {
    private final class Box: Sendable {
        let texts = Guarded(Texts())
    }

    private struct Texts {
        var own: String?
        /// Used while there is no other text.
        var fallback: String?
    }

    private let box = AtomicLazyReference<Box>()

    package init() {}

    package var text: String? {
        get { box.load()?.texts.withLock { $0.own ?? $0.fallback } }
        nonmutating set { change { $0.own = newValue } }
    }

    /// Sets the text that is used while there is no other.
    func setFallback(_ text: String) { change { $0.fallback = text } }

    private func change(_ body: (inout Texts) -> Void) {
        let box = box.load() ?? box.storeIfNil(Box())
        box.texts.withLock { body(&$0) }
    }
}
