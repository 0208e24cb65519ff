/// A handler or another value that only its home thread may use and release.
///
/// The value is released when its item becomes invalid rather than with the item. That frees what
/// it captured, often the owner of the item. A value without a home is `Sendable` by its type: any
/// thread may use and release it.
///
/// Unchecked: a value with a home is read and changed by that thread only (once it has ended, by
/// whoever releases the value), a value without one under the lock. If another thread drops the
/// last reference, the value is moved bitwise into memory from which its home releases it: a copy,
/// however short-lived, could be the last reference.
@usableFromInline
package final class HomeBound<Value>: @unchecked Sendable {
    package let home: Home
    private let lock = Lock()
    @safe @exclusivity(unchecked) private var value: Value?
    /// Whether a call is using the value.
    @safe @exclusivity(unchecked) private var isLent = false
    /// Whether the value is to be released when that call ends.
    @safe @exclusivity(unchecked) private var isReleaseDue = false

    /// Stores a value for its home thread, or for any thread if it has no home.
    package init(_ value: Value, home: Home) {
        self.value = value
        self.home = home
    }

    /// Binds a value to the calling thread.
    package convenience init(_ value: Value) { self.init(value, home: .current) }

    /// Stores a value that is `Sendable`.
    ///
    /// `Value` cannot express that, because plain handlers have the same type; the caller
    /// guarantees it.
    package convenience init(sendable value: Value) { self.init(value, home: .anywhere) }

    /// The value, on its home thread; `nil` once it was released.
    package var current: Value? {
        @inline(__always)
        get {
            if home.isAnywhere { return shared }
            require(home.isHere, Home.rule(for: "This item"))
            return value
        }
    }

    private var shared: Value? {
        @inline(never)
        get { lock.held { value } }
    }

    /// Releases the value, here or on its home thread.
    ///
    /// > Threading: Any thread. No lock may be held, because releasing the value may run user code.
    package func release() {
        if !home.isHere, home.post({ self.releaseHere() }) { return }
        releaseHere()
    }

    private func releaseHere() {
        if !home.isAnywhere, isLent { return isReleaseDue = true }
        let last = lock.held { exchange(&value, with: nil) }
        withExtendedLifetime(last) {}
    }

    deinit { home.release(&value) }
}

extension HomeBound where Value: AnyObject {
    /// Lends the value to one call at a time, on its home thread.
    ///
    /// A value with a home is not retained for the call; a release during the call is postponed.
    ///
    /// - Returns: `false` if the value was released before, or is lent already.
    @inline(__always)
    @discardableResult
    func lend(_ body: (Value) -> Void) -> Bool {
        guard home.isAnywhere else { return lendAtHome(body) }
        guard let lent = beginLoan() else { return false }
        body(lent)
        endLoan()
        return true
    }

    /// Begins to lend a value without a home; not inlined, because most have one.
    @inline(never)
    private func beginLoan() -> Value? {
        lock.held {
            guard !isLent, let value else { return nil }
            isLent = true
            return value
        }
    }

    @inline(never)
    private func endLoan() { lock.held { isLent = false } }

    /// The same for a value with a home.
    @inline(__always)
    func lendAtHome(_ body: (Value) -> Void) -> Bool {
        let borrowed = unsafe value.map { unsafe Unmanaged.passUnretained($0) }
        guard !isLent, let borrowed = unsafe borrowed else { return false }
        isLent = true
        unsafe borrowed._withUnsafeGuaranteedRef(body)
        isLent = false
        if isReleaseDue { releaseHere() }
        return true
    }
}

extension Home {
    /// Releases a value that nobody else can reach, here or on its home thread.
    func release<Value: ~Copyable>(_ value: inout Value?) {
        guard value != nil, !isHere else { return value = nil }
        let cell = Transferred(Cell(value.take()))
        if !post({ cell.value.value = nil }) { cell.value.value = nil }
    }

    /// Carries a value to its home thread without a copy that would be released elsewhere.
    private final class Cell<Value: ~Copyable> {
        var value: Value?

        init(_ value: consuming Value?) { self.value = value }
    }
}
