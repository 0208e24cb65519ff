import CUV
import CUVSupport
import Synchronization
import UVRunLoop

/// A request for libuv's thread pool: work that one of its threads does, and the notice of its end.
@safe
final class WorkRequest: LoopHandle, @unchecked Sendable {
    /// Does the work, and returns a function that reports its outcome.
    typealias Work = @Sendable () -> @Sendable () -> Void

    private let raw: UnsafeMutablePointer<uv_work_t>
    /// Taken by a thread of the pool, or dropped once none can call it; never inside `uv_run`,
    /// because a `deinit` may run the loop.
    private var work: Work?
    /// Set on any thread; libuv cancels requests on the loop's thread only.
    private let isWithdrawn = Atomic<Bool>(false)

    /// Queues work.
    ///
    /// - Parameter work: Called by a thread of the pool, unless the request is cancelled before;
    ///   released before the outcome is reported.
    /// - Throws: ``UVRunLoop/SystemError`` if the loop has ended or the pool cannot be started.
    init(_ work: @escaping Work) throws(UVRunLoop.SystemError) {
        let site = try LoopSite(.offload)
        try attempt(.offload) { () throws(UVError) in try ThreadPool.ensure() }
        unsafe raw = .allocate(capacity: 1)
        self.work = work
        super.init(site)
        host.insert(self)
        unsafe raw.pointee.data = unsafe data
        let status = SharedCall.make {
            unsafe uv_queue_work(host.uvLoop, raw, Self.doWork, Self.workDidEnd)
        }
        guard status < 0 else { return }
        self.work = nil
        release()
        throw UVRunLoop.SystemError(.offload, UVError(rawValue: status))
    }

    private static let doWork: uv_work_cb = { raw in
        guard let data = unsafe raw?.pointee.data else { return }
        cuv_set_in_pool_work(1)
        unsafe Unmanaged<WorkRequest>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.doWork() }
        cuv_set_in_pool_work(0)
    }

    private func doWork() {
        // In a forked child the thread of the pool would wake the parent's loop.
        OwnerProcess.callWithoutFork("A deinit after work") { takeAndDoWork()?() }
    }

    /// Does the work and releases it.
    ///
    /// - Returns: The function that reports the outcome; `nil` if the work was withdrawn.
    private func takeAndDoWork() -> (@Sendable () -> Void)? {
        let work = work.take()
        guard !isWithdrawn.load(ordering: .acquiring) else { return nil }
        return OwnerProcess.callWithoutFork("Work") { work?() }
    }

    private static let workDidEnd: uv_after_work_cb = { raw, status in
        guard let data = unsafe raw?.pointee.data else { return }
        let request = unsafe Unmanaged<WorkRequest>.fromOpaque(data).takeUnretainedValue()
        if status == 0 { request.note() }
        request.release()
    }

    private func release() {
        unsafe raw.deallocate()
        didRelease()
    }

    override func willClose() { isWithdrawn.store(true, ordering: .releasing) }

    /// Cancels the request; one that has begun goes on, and its end is ignored.
    override func end() {
        guard !isReleased else { return }
        let request = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_req_t.self)
        let status = SharedCall.make { unsafe uv_cancel(request) }
        if status == 0 { work = nil }
    }
}
