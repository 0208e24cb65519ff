/// An object that only its loop's thread may touch.
///
/// Unchecked: the compiler does not know the thread, so ``here`` checks it.
final class LoopBound<Object: AnyObject>: @unchecked Sendable {
    private let owner: ThreadIdentity
    private let object: Object

    init(_ object: Object, owner: ThreadIdentity) {
        self.object = object
        self.owner = owner
    }

    /// The object; traps on another thread.
    var here: Object {
        @inline(__always)
        get {
            require(
                owner == .current,
                "Bug in UVRunLoop: a run loop's own state was accessed from another thread."
            )
            return object
        }
    }

    /// The object if the calling thread is its own; `nil` elsewhere.
    ///
    /// It allocates nothing for a thread that has not used the library yet.
    var ifHere: Object? {
        @inline(__always)
        get { ThreadRecord.isCurrent(owner) ? object : nil }
    }
}
