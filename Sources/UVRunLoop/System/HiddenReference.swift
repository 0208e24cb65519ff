/// A strong reference that the compiler does not recognise as one.
///
/// A method relies on its caller to keep the object alive, and the compiler removes what retains it
/// once more. Where the caller does not keep it, this does.
@safe
struct HiddenReference: ~Copyable {
    private let object: UnsafeMutableRawPointer

    @inline(never)
    init(_ object: AnyObject) { unsafe self.object = Unmanaged.passRetained(object).toOpaque() }

    @inline(never)
    deinit { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
}
