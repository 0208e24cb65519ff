import Synchronization

/// Checks that libuv finds the descriptors that it opens for the first loop of a process.
///
/// Without them libuv aborts the process: the first loop also opens a pipe for signals. For a later
/// loop `uv_loop_init` fails, and a check beforehand took 10 of the 75 µs in which a thread with a
/// loop starts and ends.
enum DescriptorReserve {
    /// An epoll set, an eventfd, two pipes, and an `io_uring`.
    private static let count = LibuvVersion.isAtLeast1_45 ? 7 : 6
    private static let hasLoop = Atomic<Bool>(false)

    /// Checks that enough descriptors are left, unless libuv has had them.
    static func ensure() throws(UVError) {
        guard !hasLoop.load(ordering: .relaxed) else { return }
        var opened = OwnedArray<Descriptor>()
        while opened.count < count { opened.append(try .epollSet()) }
    }

    /// Records that a loop was created, and libuv has its descriptors for the process.
    static func markLoopMade() { hasLoop.store(true, ordering: .relaxed) }
}
