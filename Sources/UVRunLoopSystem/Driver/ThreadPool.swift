import CUVSupport
import Synchronization
internal import UVLibc
import UVRunLoop

/// libuv's thread pool, which it starts with the first request of the process.
///
/// libuv aborts the process if it cannot start one of the threads. So as many threads are started
/// and ended here before, which fails instead.
@safe
enum ThreadPool {
    /// The process that has the threads; a forked child starts its own.
    private static let owner = Atomic<pid_t>(0)
    private static let defaultSize = 4
    private static let maximumSize = 1_024

    /// Makes sure that the pool's threads can be started, or have been.
    ///
    /// - Throws: `EAGAIN` if the process may have no more threads, or there is no memory for them.
    static func ensure() throws(UVError) {
        let process = getpid()
        guard owner.load(ordering: .acquiring) != process else { return }
        try startAndEnd(size)
        cuv_set_pool_process(process)
        owner.store(process, ordering: .releasing)
    }

    private static var size: Int {
        guard let text = unsafe getenv("UV_THREADPOOL_SIZE") else { return defaultSize }
        // As libuv reads it: a negative number is a very large one.
        return unsafe min(max(Int(CUnsignedInt(bitPattern: atoi(text))), 1), maximumSize)
    }

    /// Has threads exist at the same time: each waits for a lock until all have been started.
    private static func startAndEnd(_ count: Int) throws(UVError) {
        let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        unsafe pthread_mutex_init(gate, nil)
        unsafe pthread_mutex_lock(gate)
        var threads: [pthread_t] = []
        var status: CInt = 0
        while threads.count < count, status == 0 {
            var thread = pthread_t()
            status = unsafe pthread_create(&thread, nil, waitAtGate, gate)
            if status == 0 { threads.append(thread) }
        }
        unsafe pthread_mutex_unlock(gate)
        for thread in threads { pthread_join(thread, nil) }
        unsafe pthread_mutex_destroy(gate)
        unsafe gate.deallocate()
        guard status == 0 else { throw UVError(rawValue: -status) }
    }

    private static let waitAtGate:
        @convention(c) (UnsafeMutableRawPointer?)
            -> UnsafeMutableRawPointer? = { gate in
                let gate = unsafe gate?.assumingMemoryBound(to: pthread_mutex_t.self)
                guard let gate = unsafe gate else { return nil }
                unsafe pthread_mutex_lock(gate)
                unsafe pthread_mutex_unlock(gate)
                return nil
            }
}
