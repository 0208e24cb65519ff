import CUV

/// Owns one libuv handle, from before its `uv_*_init` call to its close callback.
///
/// libuv uses the memory until the close callback runs, so that callback frees it.
@safe
struct UVHandle<Raw>: ~Copyable {
    let raw: UnsafeMutablePointer<Raw>

    /// Allocates a handle and initialises it.
    ///
    /// - Throws: The initialiser's error; no handle exists then.
    init(_ initialise: (UnsafeMutablePointer<Raw>) -> CInt) throws(UVError) {
        let memory = UnsafeMutablePointer<Raw>.allocate(capacity: 1)
        let status = unsafe initialise(memory)
        guard status >= 0 else {
            unsafe memory.deallocate()
            throw UVError(rawValue: status)
        }
        unsafe raw = unsafe memory
    }

    /// The handle as a `uv_handle_t`.
    var generic: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Sets the data pointer that its callbacks read.
    func setData(_ data: UnsafeMutableRawPointer) {
        unsafe generic.pointee.data = unsafe data
    }

    /// Stops the handle from keeping libuv's loop alive.
    func unreference() { unsafe uv_unref(generic) }

    /// Closes the handle, on the loop's own thread.
    consuming func close() {
        unsafe uv_close(generic) { closed in unsafe closed?.deallocate() }
        discard self
    }

    deinit {
        assertionFailure("Bug in UVRunLoop: a libuv handle was dropped while open.")
    }
}
