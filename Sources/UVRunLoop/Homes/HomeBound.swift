/// A handler, or another value, that only its home thread may use and release.
///
/// Releasing it when its item becomes invalid, and not when the item goes, frees what it captured,
/// which is often the item's owner. A value without a home is `Sendable` by its type: any thread
/// may use and release it.
///
/// Unchecked: a value with a home is read and changed by that thread alone, one without under the
/// lock. Where another thread drops the last reference, the value is moved, bit by bit, to a place
/// from which its home releases it: a copy, however short-lived, could be the last one.
@usableFromInline
package final class HomeBound<Value>: @unchecked Sendable {
    package let home: HomeThread?
    private let lock = Lock()
    @safe @exclusivity(unchecked) private var value: Value?
    /// Whether the value is lent, on its home thread, and was to be released meanwhile.
    @safe @exclusivity(unchecked) private var isLent = false
    @safe @exclusivity(unchecked) private var isReleaseDue = false

    /// Keeps a value for a thread, or for any.
    init(_ value: Value, home: HomeThread?) {
        self.value = value
        self.home = home
    }

    package convenience init(_ bound: ThreadBound<Value>) {
        self.init(bound.handler, home: bound.owner)
    }

    /// The value, on the thread it belongs to; `nil` once it was released.
    package var current: Value? {
        guard let home else { return shared }
        require(home.isCurrent, ThreadBound<Value>.rule)
        return value
    }

    private var shared: Value? {
        lock.acquire()
        defer { lock.release() }
        return value
    }

    /// Traps with a sentence unless the value may be used on a thread.
    package func checkHome(is thread: ThreadIdentity) {
        require(home == nil || home?.identity == thread, ThreadBound<Value>.rule)
    }

    /// Releases the value, here or on its home thread.
    ///
    /// > Threading: Any thread; no lock may be held, because it may run code of the value's owner.
    package func release() {
        if let home, !home.isCurrent, home.post({ self.releaseHere() }) { return }
        releaseHere()
    }

    private func releaseHere() {
        guard !isLent else { return isReleaseDue = true }
        lock.acquire()
        let last = exchange(&value, with: nil)
        lock.release()
        withExtendedLifetime(last) {}
    }

    deinit { HomeThread.release(&value, at: home) }
}

extension HomeBound where Value: AnyObject {
    /// Lends the value, on a thread that is known to be the right one, and not twice at a time.
    ///
    /// One with a home is not retained for it: should it be released meanwhile, that waits.
    @inline(__always)
    func lend(_ body: (Value) -> Void) {
        guard home != nil else { return lendShared(body) }
        guard let value else { return }
        isLent = true
        unsafe Unmanaged.passUnretained(value)._withUnsafeGuaranteedRef(body)
        isLent = false
        if isReleaseDue { releaseHere() }
    }

    private func lendShared(_ body: (Value) -> Void) {
        if let value = shared { body(value) }
    }
}

/// What an item calls, until the item becomes invalid.
package typealias Handler<Body> = HomeBound<Body>

extension HomeThread {
    /// Releases a value which nobody else can reach any more, on its home thread.
    static func release<Value>(_ value: inout Value?, at home: HomeThread?) {
        guard let home, value != nil, !home.isCurrent else { return value = nil }
        let cell = Cell(moving: &value)
        if !home.post({ cell.release() }) { cell.release() }
    }

    /// Carries a value to its home, without a copy that somebody would have to release elsewhere.
    ///
    /// Unchecked: the value is used by nobody on its way.
    @safe
    private struct Cell<Value>: @unchecked Sendable {
        private let memory: UnsafeMutablePointer<Value?>

        init(moving value: inout Value?) {
            let memory = UnsafeMutablePointer<Value?>.allocate(capacity: 1)
            unsafe withUnsafeMutablePointer(to: &value) { source in
                unsafe memory.moveInitialize(from: source, count: 1)
                unsafe source.initialize(to: nil)
            }
            unsafe self.memory = memory
        }

        func release() {
            unsafe memory.deinitialize(count: 1)
            unsafe memory.deallocate()
        }
    }
}
