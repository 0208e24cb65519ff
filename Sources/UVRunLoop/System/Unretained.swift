internal import CUVSupport

/// An unowned reference to an object that the caller keeps alive.
@safe
struct Unretained<Object: AnyObject> {
    private unowned(unsafe) let reference: Object

    init(_ object: Object) { unsafe reference = object }

    var object: Object { unsafe reference }

    func refers(to object: Object) -> Bool { unsafe reference === object }
}

extension Array where Element: AnyObject {
    /// Lends the objects, in order, without retaining each: the array retains them.
    @inline(__always)
    borrowing func forEachUnretained(_ body: (Element) -> Void) {
        unsafe withUnsafeBufferPointer { objects in
            for index in objects.indices {
                unsafe Unmanaged.passUnretained(objects[index])._withUnsafeGuaranteedRef(body)
            }
        }
    }
}

extension Array {
    /// Lends an object and a value of each element, without retaining the object: the array does.
    @inline(__always)
    borrowing func forEachUnretained<Object: AnyObject, Value>(
        _ object: (borrowing Element) -> Object,
        with value: (borrowing Element) -> Value,
        _ body: (Object, Value) -> Void
    ) {
        unsafe withUnsafeBufferPointer { elements in
            for index in elements.indices {
                let value = unsafe value(elements[index])
                unsafe Unmanaged.passUnretained(object(elements[index]))._withUnsafeGuaranteedRef {
                    body($0, value)
                }
            }
        }
    }
}

/// Lends an object that is retained elsewhere meanwhile, if there is one, without retaining it.
@inline(__always)
func withUnretained<Object: AnyObject>(_ object: borrowing Object?, _ body: (Object) -> Void) {
    let borrowed = unsafe object.map { unsafe Unmanaged.passUnretained($0) }
    if let borrowed = unsafe borrowed { unsafe borrowed._withUnsafeGuaranteedRef(body) }
}

/// Asks the processor to fetch an object's memory, which is about to be used, into its cache.
@inline(__always)
func prefetch(_ object: borrowing (some AnyObject)?) {
    let memory = unsafe object.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    if let memory = unsafe memory { unsafe cuv_memory_prefetch(memory) }
}

/// Lends an object as one of a class, if it is of that class; `as?` would retain it.
@inlinable
@inline(__always)
package func withCast<Object: AnyObject, Result>(
    _ object: any AnyObject & Sendable,
    to type: Object.Type,
    _ body: (Object) -> Result
) -> Result? {
    guard object is Object else { return nil }
    return body(unsafe unsafeDowncast(object, to: type))
}
