/// Room for a text that any thread may give an object.
///
/// One word, which stays empty until there is a first text.
package struct LabelBox: ~Copyable, Sendable {
    private let box = OnceReference<LabelTexts>()

    package init() {}

    package var text: String? {
        get { box.withObject { $0.texts.withLock { $0.own ?? $0.fallback } } ?? nil }
        nonmutating set { change { $0.own = newValue } }
    }

    /// Sets the text that is used while there is no other.
    func setFallback(_ text: String) { change { $0.fallback = text } }

    private func change(_ body: (inout LabelTexts.Texts) -> Void) {
        let box = box.object ?? box.store(LabelTexts())
        box.texts.withLock { body(&$0) }
    }
}

/// The texts of one object, once it has any.
final class LabelTexts: Sendable {
    struct Texts {
        var own: String?
        /// Used while there is no other text.
        var fallback: String?
    }

    let texts = Guarded(Texts())
}
