/// A value that only its loop's thread may touch.
///
/// Unchecked, because the compiler cannot know a thread when it sees one: ``withValue(_:)`` checks
/// instead. The value is lent for as long as the body runs, and the body calls nobody: lending it
/// twice at a time traps.
final class LoopBound<Value: ~Copyable>: @unchecked Sendable {
    private let owner: ThreadIdentity
    @safe @exclusivity(unchecked) private var value: Value
    @safe @exclusivity(unchecked) private var isLent = false

    init(_ value: consuming Value, owner: ThreadIdentity) {
        self.value = value
        self.owner = owner
    }

    @inline(__always)
    func withValue<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
        require(
            owner == .current && !isLent,
            "Bug in UVRunLoop: a run loop's own state was reached from another thread, or twice."
        )
        isLent = true
        defer { isLent = false }
        return body(&value)
    }
}
