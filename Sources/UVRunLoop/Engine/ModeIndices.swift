/// A list of a loop's modes; one mode needs no array.
struct ModeIndices {
    private var first: Int?
    private var others: [Int] = []

    init(_ index: Int? = nil) { first = index }

    var isEmpty: Bool { first == nil }

    mutating func append(_ more: ModeIndices) {
        more.forEach { index in
            if first == nil { first = index } else { others.append(index) }
        }
    }

    func forEach(_ body: (Int) -> Void) {
        guard let first else { return }
        body(first)
        for other in others { body(other) }
    }
}
