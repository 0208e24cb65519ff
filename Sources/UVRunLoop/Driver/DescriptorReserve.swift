import CUV
internal import CUVSupport
import Synchronization

/// Makes sure that libuv finds the descriptors it takes for granted.
///
/// Where they are missing, libuv 1.44 leaks what it has opened for the loop so far; and for the
/// first loop of a process, for which it also opens a pair for signals, it aborts the process.
enum DescriptorReserve {
    /// An epoll set, an eventfd and a pipe, and an `io_uring`.
    private static let countForALoop = LibuvVersion.isAtLeast1_45 ? 5 : 4
    private static let countForLibuv = 2
    private static let hasLoop = Atomic<Bool>(false)

    /// Checks that enough descriptors are left.
    ///
    /// - Returns: The standard descriptors that are closed in this process, now open. Close them
    ///   when libuv has opened its own, so that a program that watches 0 does not get one of those.
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

    /// To be called when a loop was made: libuv has then what it needs once.
    static func noteLoop() { hasLoop.store(true, ordering: .relaxed) }
}
