extension Array where Element: AnyObject {
    /// Lends the objects at some indices, in order, without retaining each: the array retains them.
    @inline(__always)
    borrowing func forEachUnretained(in range: Range<Int>, _ body: (Element) -> Void) {
        unsafe withUnsafeBufferPointer { objects in
            for index in range {
                unsafe Unmanaged.passUnretained(objects[index])._withUnsafeGuaranteedRef(body)
            }
        }
    }
}
