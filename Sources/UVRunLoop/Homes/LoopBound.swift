/// An object that only its loop's thread may touch.
///
/// Unchecked: the compiler does not know the thread, so ``here`` checks it.
struct LoopBound<Object: AnyObject>: ~Copyable, @unchecked Sendable {
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
            here {
                fail("Bug in UVRunLoop: a run loop's own state was accessed from another thread.")
            }
        }
    }

    /// Returns the object; on another thread, the body tells the caller's mistake.
    @inline(__always)
    func here(orElse fail: () -> Never) -> Object {
        if owner != .current { fail() }
        return object
    }

    /// The object if the calling thread is its own; `nil` elsewhere.
    ///
    /// It allocates nothing for a thread that has not used the library yet.
    var ifHere: Object? {
        @inline(__always)
        get { ThreadRecord.isCurrent(owner) ? object : nil }
    }
}
