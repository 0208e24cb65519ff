import Results

/// The meaning of a lower value to a reader.
enum Merit {
    case faster, sooner, smaller, fewer
    /// Of rates, where the higher value is the better one.
    case higherRate

    init(_ unit: Unit) {
        self =
            switch unit {
            case .nanoseconds: .faster
            case .perSecond: .higherRate
            case .bytes: .smaller
            case .wakeUpsPerSecond: .fewer
            }
    }

    /// The words for the better and for the worse one.
    var words: (better: String, worse: String) {
        switch self {
        case .faster, .higherRate: ("faster", "slower")
        case .sooner: ("sooner", "later")
        case .smaller: ("smaller", "larger")
        case .fewer: ("fewer", "more")
        }
    }

    /// The words beside an axis.
    var hint: String { self == .higherRate ? "higher is better" : "lower is better" }
}

/// How this library does beside a peer.
struct Comparison: Equatable {
    /// "2.4 × faster".
    let words: String
    /// `nil` when there is no difference.
    let isBetter: Bool?

    /// Fails when there is no ratio, because one of the values is zero and the other is not.
    init?(ours: Double, peer: Double, _ merit: Merit) {
        guard ours != peer else {
            words = "the same"
            isBetter = nil
            return
        }
        guard ours > 0, peer > 0 else { return nil }
        let ratio = merit == .higherRate ? ours / peer : peer / ours
        let isBetter = ratio > 1
        let words = isBetter ? merit.words.better : merit.words.worse
        self.words = "\(Figures.times(isBetter ? ratio : 1 / ratio)) \(words)"
        self.isBetter = isBetter
    }
}
