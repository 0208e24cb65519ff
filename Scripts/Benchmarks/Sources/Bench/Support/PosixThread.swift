import Glibc

/// A plain thread, the same for every system that is measured.
struct PosixThread {
    private let id: pthread_t

    init(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        var id = pthread_t()
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let status = pthread_create(
            &id,
            &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            box
        )
        guard status == 0 else {
            fail("no thread could be started: \(String(cString: strerror(status)))")
        }
        self.id = id
    }

    func join() { pthread_join(id, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// Hands a value over to another thread where the compiler cannot see that this is safe.
struct Handover<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// Lets several threads begin at the same moment.
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

/// Where a thread leaves its result, before it is joined.
private final class Slot<Value>: @unchecked Sendable { var value: Value? }

/// Does something on a thread that is started for it, and waits for what it yields.
///
/// The thread's end takes away what was put into its run loop.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
    let slot = Slot<Value>()
    PosixThread { slot.value = body() }.join()
    guard let value = slot.value else { fail("a thread ended without a result.") }
    return value
}
