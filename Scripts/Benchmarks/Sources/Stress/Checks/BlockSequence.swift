/// The order in which the blocks of one sender arrive: each once, and none before an earlier one.
///
/// A run within a block comes before the rest of the blocks that were taken together with it.
/// There, later ones may overtake those; among themselves they are in order too.
struct BlockSequence {
    /// The latest that ran at each depth: outside of other blocks, within one, and so on.
    private var latest: [Int] = [0]
    /// Every number up to this one has arrived.
    private var complete = 0
    /// The numbers that arrived ahead of earlier ones.
    private var early: Set<Int> = []

    /// Takes down that a block runs.
    ///
    /// - Parameters:
    ///   - number: Its number; the first is 1.
    ///   - depth: How many other blocks are on the stack.
    ///   - name: What blocks these are.
    mutating func arrive(_ number: Int, depth: Int, _ name: @autoclosure () -> String) {
        while latest.count <= depth { latest.append(0) }
        if latest.count > depth + 1 { latest.removeLast(latest.count - depth - 1) }
        let last = depth == 0 ? latest[0] : latest.max() ?? 0
        demand(
            number > last,
            "the blocks \(name()) in the order in which they were posted, after number \(last)",
            "number \(number)"
        )
        demand(
            number > complete && !early.contains(number),
            "every block \(name()) to run once",
            "number \(number) a second time"
        )
        // Nothing that was posted before it can be left, but for what an outer batch holds.
        if depth == 0 {
            demand(
                (complete + 1..<number).allSatisfy(early.contains),
                "block \(complete + 1) \(name()) before later ones",
                "number \(number)"
            )
        }
        latest[depth] = number
        early.insert(number)
        while early.remove(complete + 1) != nil { complete += 1 }
    }

    /// How many have arrived, all before them included.
    var count: Int { complete }
}
