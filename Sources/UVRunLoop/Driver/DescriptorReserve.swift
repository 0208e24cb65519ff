import CUV
import Glibc
import Synchronization

/// Makes sure that libuv finds the descriptors it takes for granted.
///
/// The first loop of a process has libuv open a pair of descriptors for signals, and libuv aborts the process when
/// none are left. So the first loop is made only after as many could be opened as a loop and libuv need.
enum DescriptorReserve {
    /// What a loop (4) and libuv's own needs (2) come to.
    private static let count = 6
    private static let isKnown = Atomic<Bool>(false)

    static func ensure() throws(UVError) {
        guard !isKnown.load(ordering: .relaxed) else { return }
        var opened: [CInt] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<count { opened.append(try accepted(cuv_epoll_create())) }
        isKnown.store(true, ordering: .relaxed)
    }
}
