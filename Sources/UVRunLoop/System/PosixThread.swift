internal import CUVSupport

/// A POSIX thread, which is joined or detached once.
package struct PosixThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - stackSize: The size in bytes, rounded up to whole pages; `nil` for the system's default.
    ///   - body: The work of the thread, which ends when this returns.
    /// - Throws: `EINVAL` for a stack of that size, `EAGAIN` if no more threads can be created.
    package init(stackSize: Int?, _ body: @escaping @Sendable () -> Void) throws(UVError) {
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
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().call()
                return nil
            },
            argument
        )
        if status != 0 { unsafe Unmanaged<Body>.fromOpaque(argument).release() }
        try Self.check(status)
        self.handle = handle
    }

    /// Waits until the thread has ended, its exit handlers included.
    package func join() { pthread_join(handle, nil) }

    /// Waits until the thread has ended or a date of the monotonic clock has passed.
    ///
    /// - Parameter date: The date in nanoseconds; `.max` for none.
    /// - Returns: Whether the thread has ended; if not, it is still to be joined or detached.
    func join(until date: Int64) -> Bool {
        guard date < .max else {
            join()
            return true
        }
        return cuv_join_thread(handle, max(date, 0)) == 0
    }

    /// Lets the system free the thread when it ends.
    func detach() { pthread_detach(handle) }

    /// Has a new thread do something; if none can be started, a fallback has it done.
    ///
    /// - Parameters:
    ///   - name: The thread's name for debuggers.
    ///   - stackSize: The size in bytes; `nil` for the system's default.
    ///   - work: The work.
    ///   - fallback: Gets the work if there is no thread; by default the calling thread does it.
    static func startDetached(
        _ name: String,
        stackSize: Int? = nil,
        _ work: @escaping @Sendable () -> Void,
        otherwise fallback: (@escaping @Sendable () -> Void) -> Void = { $0() }
    ) {
        do {
            try PosixThread(stackSize: stackSize) {
                // It would inherit the name of the thread that started it.
                nameCurrent(name)
                work()
            }.detach()
        } catch {
            fallback(work)
        }
    }

    /// The smallest stack size in bytes: enough for a run loop and a shallow handler.
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

    /// Names the calling thread for debuggers, which show 15 bytes of the name.
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
        let call: @Sendable () -> Void

        init(_ call: @escaping @Sendable () -> Void) { self.call = call }
    }
}
