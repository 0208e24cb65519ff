import CUV

/// Owns one libuv handle, from before its `uv_*_init` call to its close callback.
///
/// libuv keeps the memory until the close callback runs, so that callback frees it.
@safe
struct UVHandle<Raw>: ~Copyable {
    let raw: UnsafeMutablePointer<Raw>

    /// Makes room for a handle and has it initialised.
    ///
    /// - Throws: What the initialiser answered; there is no handle then.
    init(_ initialise: (UnsafeMutablePointer<Raw>) -> CInt) throws(UVError) {
        let memory = UnsafeMutablePointer<Raw>.allocate(capacity: 1)
        let status = unsafe initialise(memory)
        guard status >= 0 else {
            unsafe memory.deallocate()
            throw UVError(rawValue: status)
        }
        unsafe raw = unsafe memory
    }

    /// The handle as libuv's functions for all handles take it.
    var generic: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }

    /// What its callbacks find.
    func setData(_ data: UnsafeMutableRawPointer) {
        unsafe generic.pointee.data = unsafe data
    }

    /// Lets the handle be without keeping libuv's loop alive.
    func unreference() { unsafe uv_unref(generic) }

    /// Hands the handle back to libuv, on the loop's own thread.
    consuming func close() {
        unsafe uv_close(generic) { closed in unsafe closed?.deallocate() }
        discard self
    }

    deinit {
        assertionFailure("Bug in UVRunLoop: a libuv handle was dropped while open.")
    }
}

/// Throws the failure that a libuv status stands for.
@discardableResult
package func accepted(_ status: CInt) throws(UVError) -> CInt {
    guard status >= 0 else { throw UVError(rawValue: status) }
    return status
}
