import Glibc

/// A plain thread, to call from.
struct PosixThread: Sendable {
    private let id: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        var id = pthread_t()
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let status = pthread_create(
            &id,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            box
        )
        guard status == 0 else { fail("No thread could be started.") }
        self.id = id
    }

    func join() { pthread_join(id, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// Lets several threads go on at the same moment.
final class Gate: @unchecked Sendable {
    private let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)

    init(threads: Int) { pthread_barrier_init(barrier, nil, UInt32(threads)) }

    func pass() { pthread_barrier_wait(barrier) }

    deinit {
        pthread_barrier_destroy(barrier)
        barrier.deallocate()
    }
}

/// Something that one thread waits for and another announces.
final class Latch: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    func open() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }
}
