import Synchronization

/// A reference that any thread may set, once, and that stays as long as its owner.
///
/// `AtomicLazyReference` asks the runtime for metadata whenever it is read, which takes about 250
/// instructions.
@safe
struct OnceReference<Object: AnyObject>: ~Copyable {
    /// The address of an object that is retained once, or zero.
    private let address = Atomic<UInt>(0)

    var object: Object? {
        @inline(__always)
        get { unsafe Self.reference(address.load(ordering: .acquiring))?.takeUnretainedValue() }
    }

    /// Calls a body with the object, if there is one, without retaining it.
    @inline(__always)
    func withObject<Result>(_ body: (Object) -> Result) -> Result? {
        unsafe Self.reference(address.load(ordering: .acquiring))?._withUnsafeGuaranteedRef(body)
    }

    /// Stores an object, unless there is one; returns the one that is stored.
    func store(_ object: Object) -> Object {
        let reference = unsafe Unmanaged.passRetained(object)
        let (isStored, found) = unsafe address.compareExchange(
            expected: 0,
            desired: UInt(bitPattern: reference.toOpaque()),
            ordering: .acquiringAndReleasing
        )
        guard !isStored, let other = unsafe Self.reference(found) else { return object }
        unsafe reference.release()
        return unsafe other.takeUnretainedValue()
    }

    @inline(__always)
    private static func reference(_ address: UInt) -> Unmanaged<Object>? {
        unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
    }

    deinit { unsafe Self.reference(address.load(ordering: .relaxed))?.release() }
}

extension OnceReference: Sendable where Object: Sendable {}
