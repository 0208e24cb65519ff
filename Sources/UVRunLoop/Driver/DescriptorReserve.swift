import CUV
import Glibc
import Synchronization

/// Makes sure that libuv finds the descriptors it takes for granted.
///
/// When it does not, libuv 1.44 keeps the first of those that it could open for a loop, and, for
/// the first loop of a process, aborts the process, which misses the pair that signals need. So a
/// loop is made only after as many could be opened.
enum DescriptorReserve {
    /// An epoll set, an eventfd and a pipe.
    private static let countForALoop = 4
    private static let countForLibuv = 2
    private static let hasLoop = Atomic<Bool>(false)

    static func ensure() throws(UVError) {
        let isFirst = !hasLoop.load(ordering: .relaxed)
        let count = countForALoop + (isFirst ? countForLibuv : 0)
        var opened: [CInt] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<count { opened.append(try accepted(cuv_epoll_create())) }
    }

    /// To be called when a loop was made: libuv has then what it needs once.
    static func noteLoop() { hasLoop.store(true, ordering: .relaxed) }
}
