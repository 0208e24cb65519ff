import Glibc
import Synchronization

@testable import UVRunLoop

/// Numbers that look random and are the same in every run of the tests: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Ends the process when a body takes so long that only a hang explains it.
func withHangGuard<Result>(
    seconds: Int = 120,
    _ body: () throws -> Result
) rethrows -> Result {
    let end = HangGuard()
    let thread = startThread { end.watch(seconds: seconds) }
    pthread_detach(thread)
    defer { end.isReached.store(true, ordering: .releasing) }
    return try body()
}

private final class HangGuard: Sendable {
    let isReached = Atomic<Bool>(false)

    func watch(seconds: Int) {
        for _ in 0..<seconds * 50 {
            if isReached.load(ordering: .acquiring) { return }
            usleep(20_000)
        }
        guard !isReached.load(ordering: .acquiring) else { return }
        preconditionFailure("A test hangs.")
    }
}

/// The processor time that the calling thread has used, in nanoseconds.
func threadProcessorTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// How many descriptors the process has open, the one for counting them included.
func openDescriptorCount() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}

/// Runs a body in a process of its own, in which no other thread opens or closes descriptors.
///
/// An exit test's process has such threads: those of the test library.
func inQuietProcess(_ body: () -> Void) {
    let child = fork()
    precondition(child >= 0, "No process could be made.")
    if child == 0 {
        alarm(300)
        body()
        _exit(0)
    }
    let status = awaitChild(child)
    precondition(status == 0, "The process ended with \(status).")
}

/// The process's table of descriptors, filled up but for a few.
final class FullTable: @unchecked Sendable {
    private var descriptors: [CInt] = []

    /// Lowers the limit, and opens descriptors until there are no more.
    init() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 128
        precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        fill()
    }

    func fill() {
        while true {
            let descriptor = dup(0)
            guard descriptor >= 0 else { break }
            descriptors.append(descriptor)
        }
        precondition(errno == EMFILE)
    }

    /// Leaves exactly so many descriptors to be opened.
    func leave(_ count: Int) {
        fill()
        for _ in 0..<count { close(descriptors.removeLast()) }
    }
}

/// Reads from a descriptor without waiting; answers how many bytes came, or -1.
@discardableResult
func drain(_ descriptor: CInt) -> Int {
    var bytes = [UInt8](repeating: 0, count: 4096)
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&state, 1, 0) > 0 else { return -1 }
    return read(descriptor, &bytes, bytes.count)
}

/// Waits for a child process; answers its status as waitpid(2) gives it.
func awaitChild(_ child: pid_t) -> CInt {
    var status: CInt = -1
    while waitpid(child, &status, 0) == -1, errno == EINTR {}
    return status
}

/// Lets one thread wait until others have done something so many times.
final class Gate: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    func open() { sem_post(semaphore) }

    func wait(times: Int = 1) {
        for _ in 0..<times {
            while sem_wait(semaphore) != 0 {}
        }
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }
}
