/// A value that only its loop's thread may touch.
///
/// Unchecked: the compiler does not know the thread, so ``withValue(_:)`` checks it. The value is
/// lent while the body runs. The body must not call user code; lending the value twice at the same
/// time traps.
final class LoopBound<Value>: @unchecked Sendable {
    private let owner: ThreadIdentity
    @safe @exclusivity(unchecked) private var value: Value
    @safe @exclusivity(unchecked) private var isLent = false

    init(_ value: Value, owner: ThreadIdentity) {
        self.value = value
        self.owner = owner
    }

    @inline(__always)
    func withValue<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
        require(
            owner == .current && !isLent,
            """
            Bug in UVRunLoop: a run loop's own state was accessed from another thread, or twice \
            at once.
            """
        )
        isLent = true
        defer { isLent = false }
        return body(&value)
    }
}
