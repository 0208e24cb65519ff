/// A value that only its loop's thread may touch.
///
/// Unchecked, because the compiler cannot know a thread when it sees one: ``withValue(_:)`` checks
/// instead. The value is lent for as long as the body runs, and the body calls nobody: lending it
/// twice at a time traps.
final class LoopBound<Value>: @unchecked Sendable {
    private let owner: ThreadIdentity
    private var value: Value

    init(_ value: Value, owner: ThreadIdentity) {
        self.value = value
        self.owner = owner
    }

    func withValue<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        require(
            owner == .current,
            "Bug in UVRunLoop: a run loop's own state was reached from another thread."
        )
        return try body(&value)
    }
}
