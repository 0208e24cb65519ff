/// Counts calls of blocks and handlers.
///
/// Unchecked, because only the loop's thread makes them.
final class Counter: @unchecked Sendable {
    private var number = 0

    func countOne() { number += 1 }

    func take() -> Int { exchange(&number, with: 0) }
}
