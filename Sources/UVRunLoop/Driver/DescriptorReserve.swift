import CUV
internal import CUVSupport
import Synchronization

/// Checks that libuv will find the descriptors it needs.
///
/// If they are missing, libuv 1.44 leaks what it has opened for the loop so far. For the first loop
/// of a process, which also opens a pair of descriptors for signals, it aborts the process.
enum DescriptorReserve {
    /// An epoll set, an eventfd and a pipe, and an `io_uring`.
    private static let countForALoop = LibuvVersion.isAtLeast1_45 ? 5 : 4
    private static let countForLibuv = 2
    private static let hasLoop = Atomic<Bool>(false)

    /// Checks that enough descriptors are left.
    ///
    /// - Returns: The standard descriptors that were closed in this process, now open. Close them
    ///   once libuv has opened its own, so that libuv does not get number 0, 1 or 2.
    static func ensure() throws(UVError) -> [CInt] {
        let isFirst = !hasLoop.load(ordering: .relaxed)
        let count = countForALoop + (isFirst ? countForLibuv : 0)
        var opened: [CInt] = []
        var standard: [CInt] = []
        defer { for descriptor in opened { cuv_close(descriptor) } }
        do {
            while opened.count < count {
                let descriptor = try accepted(cuv_epoll_create())
                if StandardDescriptors.all.contains(descriptor) {
                    standard.append(descriptor)
                } else {
                    opened.append(descriptor)
                }
            }
        } catch {
            for descriptor in standard { cuv_close(descriptor) }
            throw error
        }
        return standard
    }

    /// Records that a loop was created, and libuv has its descriptors for the process.
    static func markLoopMade() { hasLoop.store(true, ordering: .relaxed) }
}
