import CUV
internal import CUVSupport

/// The handles and requests that further products have in a loop's `uv_loop_t`.
///
/// Unlike foreign handles, these belong to sources with modes: their callbacks only note an event,
/// and end a sleep only if the run can serve the source. The driver therefore lets libuv poll while
/// there are any, and the run has the noted sources announced afterwards.
///
/// > Threading: The loop's own thread. When the loop has ended, the thread that awaits the requests
/// > in progress.
@safe
package final class HandleHost {
    package let uvLoop: UnsafeMutablePointer<uv_loop_t>
    /// Keeps each handle's object until libuv no longer uses its memory.
    private var handles: [ObjectIdentifier: any HostedHandle] = [:]
    /// The handles that libuv no longer uses, and whose sources are valid: these end with the loop.
    private(set) var finished: [ObjectIdentifier: any HostedHandle] = [:]
    private var noted: [any HostedHandle] = []
    private(set) var isClosing = false
    /// An object that the product with the handles keeps with them.
    package var companion: (any AnyObject & Sendable)?
    /// Has the driver forget descriptors that were released, and calls a body before any thread can
    /// release another one.
    private let forgetReleased: (_ andThen: () -> Void) -> Void

    init(
        _ uvLoop: UnsafeMutablePointer<uv_loop_t>,
        forgetReleased: @escaping (_ andThen: () -> Void) -> Void
    ) {
        unsafe self.uvLoop = unsafe uvLoop
        self.forgetReleased = forgetReleased
    }

    /// Whether libuv uses the memory of no handle or request.
    var isEmpty: Bool { handles.isEmpty }

    /// Keeps a handle or request that libuv uses from now on.
    package func insert(_ handle: any HostedHandle) { handles[ObjectIdentifier(handle)] = handle }

    /// Records that libuv no longer uses a handle or request.
    ///
    /// - Parameters:
    ///   - handle: The handle or request.
    ///   - isOfValidSource: Whether it has a source that may become invalid by the end of the loop;
    ///     it is then kept until ``forget(_:)``.
    package func didFinish(_ handle: any HostedHandle, isOfValidSource: Bool) {
        handles[ObjectIdentifier(handle)] = nil
        if isOfValidSource, !isClosing { finished[ObjectIdentifier(handle)] = handle }
    }

    /// Releases a handle or request whose source is invalid, if libuv no longer uses it.
    package func forget(_ handle: any HostedHandle) { finished[ObjectIdentifier(handle)] = nil }

    /// Notes that a source has an event, in a callback of libuv.
    package func note(_ handle: any HostedHandle) {
        guard !isClosing else { return }
        noted.append(handle)
        // Otherwise libuv could block now, if it called back before it polls.
        unsafe uv_stop(uvLoop)
    }

    /// Has libuv open descriptors.
    ///
    /// Those of the process's standard descriptors that are closed are occupied meanwhile: libuv
    /// aborts the process when it closes one of their numbers.
    package func open(_ body: () -> CInt) -> CInt {
        var standard = StandardDescriptors.occupyClosed()
        defer { standard.removeAll() }
        return body()
    }

    /// Hands a new descriptor to libuv for the first time.
    ///
    /// libuv knows descriptors by number. Another thread may just have invalidated a source and
    /// closed its descriptor, and the new one may have its number: libuv would still have the old
    /// `uv_poll` for it.
    ///
    /// - Parameter body: Starts libuv's use of the descriptor; it must not block, and calls no user
    ///   code.
    /// - Throws: libuv's refusal, or `ECANCELED` if the loop has ended.
    package func start(_ body: () -> CInt) throws(UVError) {
        var status = UV_ECANCELED.rawValue
        forgetReleased { status = body() }
        try accepted(status)
    }

    /// Adds descriptors that were just started to libuv's epoll set.
    ///
    /// libuv does so when it next polls, and aborts the process if the kernel refuses.
    ///
    /// - Throws: The kernel's refusal; the handle can only be closed then.
    package func register() throws(UVError) { try accepted(unsafe cuv_loop_register(uvLoop)) }

    /// The same for a handle that watches a path; those of a loop share a descriptor.
    package func registerInotify() throws(UVError) {
        try accepted(unsafe cuv_loop_register_inotify(uvLoop))
    }

    /// The number of sources that were noted and not announced.
    var notedCount: Int { noted.count }
    var hasNoted: Bool { !noted.isEmpty }

    /// Makes the noted sources ready from now on, lower orders first.
    func announceNoted() {
        guard !noted.isEmpty else { return }
        for handle in exchange(&noted, with: []).sorted(by: { $0.order < $1.order }) {
            handle.announce(ofPoll: false)
        }
    }

    /// Makes the sources ready that the latest poll has noted, or only those that are expected.
    func announcePolled(ifExpected: Bool) {
        guard !noted.isEmpty else { return }
        for handle in exchange(&noted, with: []) {
            // Asked once: another thread may take the source out of the loop at any time.
            if ifExpected, !handle.isExpected {
                noted.append(handle)
            } else {
                handle.announce(ofPoll: true)
            }
        }
    }

    /// Closes all handles and cancels all requests; libuv's close callbacks are still to come.
    func close() {
        isClosing = true
        noted = []
        let ending = Array(handles.values) + exchange(&finished, with: [:]).values
        for handle in ending { handle.loopWillEnd() }
    }
}

/// A handle or request of a further product in the `uv_loop_t` of a run loop.
///
/// Its libuv callbacks store what happened and call ``HandleHost/note(_:)``; they call no user
/// code.
///
/// > Threading: The loop's own thread.
package protocol HostedHandle: AnyObject {
    /// The order of the handle's source.
    var order: Int { get }

    /// Whether the handle's source was served, and a skipped poll would have found it if it has
    /// stayed ready.
    var isExpected: Bool { get }

    /// Makes the handle's source ready; called after `uv_run` has returned, while no lock is held.
    ///
    /// - Parameter isOfPoll: Whether the source counts as one that the latest poll has reported.
    func announce(ofPoll isOfPoll: Bool)

    /// Closes the handle, or cancels the request, because the loop ends; its source becomes
    /// invalid.
    func loopWillEnd()
}
