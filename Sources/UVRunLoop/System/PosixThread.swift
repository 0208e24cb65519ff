internal import CUVSupport

/// A thread of the system's, to be joined or detached once by whoever started it.
struct PosixThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - stackSize: Bytes, rounded up to whole pages; `nil` for what the system gives.
    ///   - body: What the thread does; it ends when this returns.
    /// - Throws: `EINVAL` for a stack of that size, `EAGAIN` when there can be no more threads.
    init(stackSize: Int?, _ body: @escaping @Sendable () -> Void) throws(UVError) {
        var attributes = pthread_attr_t()
        try Self.check(unsafe pthread_attr_init(&attributes))
        defer { unsafe pthread_attr_destroy(&attributes) }
        if let stackSize {
            let pages = try Self.wholePages(stackSize)
            try Self.check(unsafe pthread_attr_setstacksize(&attributes, pages))
        }
        var handle = pthread_t()
        let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
        let status = unsafe pthread_create(
            &handle,
            &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().take()?()
                return nil
            },
            argument
        )
        if status != 0 { unsafe Unmanaged<Body>.fromOpaque(argument).release() }
        try Self.check(status)
        self.handle = handle
    }

    /// Waits until the thread is gone, with all that it did on its way out.
    func join() { pthread_join(handle, nil) }

    /// Has the system forget the thread when it ends.
    func detach() { pthread_detach(handle) }

    /// The least that a stack may have, in bytes: a run loop and a shallow handler fit in.
    static let smallestStack = 128 * 1024

    private static func wholePages(_ size: Int) throws(UVError) -> Int {
        let page = sysconf(CInt(_SC_PAGESIZE))
        guard size >= smallestStack, size <= Int.max - page else {
            throw UVError(rawValue: -EINVAL)
        }
        return (size + page - 1) / page * page
    }

    private static func check(_ status: CInt) throws(UVError) {
        guard status == 0 else { throw UVError(rawValue: -status) }
    }

    /// Gives the calling thread a name for debuggers and the like, which show 15 bytes of it.
    static func nameCurrent(_ name: String) {
        var shown = ""
        for character in name {
            guard shown.utf8.count + character.utf8.count <= 15 else { break }
            shown.append(character)
        }
        unsafe cuv_name_thread(shown)
    }

    /// Carries a closure through a pointer.
    private final class Body: Sendable {
        private let body: Guarded<(@Sendable () -> Void)?>

        init(_ body: @escaping @Sendable () -> Void) { self.body = Guarded(body) }

        func take() -> (@Sendable () -> Void)? { body.withLock { exchange(&$0, with: nil) } }
    }
}
