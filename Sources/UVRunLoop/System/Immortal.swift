internal import CUVSupport

/// Keeps an object for the rest of the process; its references are no longer counted.
///
/// Counting takes 10 ns for each reference that is taken and dropped, and far more while several
/// threads do it for one object. With a runtime that offers no such call, they are counted as ever.
///
/// - Parameter object: The object. Once something has referred to it weakly, the runtime looks
///   elsewhere whether to count, which takes as long as counting did, but writes to no word.
/// - Returns: A reference to it that is always valid.
func immortalize<Object: AnyObject>(_ object: Object) -> Unmanaged<Object> {
    let kept = unsafe Unmanaged.passRetained(object)
    unsafe cuv_object_immortalize(kept.toOpaque())
    return unsafe kept
}
