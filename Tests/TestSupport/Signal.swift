import Glibc

/// Something that one thread waits for and another does, once or several times.
package final class Signal: @unchecked Sendable {
    /// For how many seconds a thread waits before it takes a hang for granted.
    ///
    /// A task that is to send it may wait for minutes for its turn among all tests, on a slow machine
    /// with the thread sanitizer.
    private static let patience = 600

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var count = 0

    package init() {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    package func send() {
        withLock {
            count += 1
            pthread_cond_broadcast(condition)
        }
    }

    package var hasCome: Bool { withLock { count > 0 } }

    /// Waits until it has been sent so many times in all; traps after a time that only a hang
    /// explains.
    package func wait(times: Int = 1) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += Self.patience
        withLock {
            while count < times {
                let status = pthread_cond_timedwait(condition, mutex, &end)
                precondition(status != ETIMEDOUT, "A test hangs.")
            }
        }
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }
}

/// Waits for a signal from a task whose thread may be kept meanwhile.
package func waitInThread(for signal: Signal) { signal.wait() }
