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
        lend(isHere: owner == .current, body)
    }

    /// Lends the value if the calling thread is its own; returns `nil` elsewhere.
    ///
    /// It allocates nothing for a thread that has not used the library yet.
    @inline(__always)
    func withValueIfHere<Result>(_ body: (inout Value) -> Result) -> Result? {
        guard ThreadRecord.isCurrent(owner) else { return nil }
        return lend(isHere: true, body)
    }

    @inline(__always)
    private func lend<Result: ~Copyable>(isHere: Bool, _ body: (inout Value) -> Result) -> Result {
        require(
            isHere && !isLent,
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
