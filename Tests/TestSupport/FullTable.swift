import Glibc

/// The process's table of descriptors, filled up but for a few.
package final class FullTable: @unchecked Sendable {
    private var descriptors: [CInt] = []

    /// Lowers the limit, and opens descriptors until there are no more.
    package init() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 128
        precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        fill()
    }

    private func fill() {
        while true {
            let descriptor = dup(0)
            guard descriptor >= 0 else { break }
            descriptors.append(descriptor)
        }
        precondition(errno == EMFILE)
    }

    /// Leaves exactly so many descriptors to be opened.
    package func leave(_ count: Int) {
        fill()
        for _ in 0..<count { close(descriptors.removeLast()) }
    }

    /// Closes all that filled it.
    package func clear() {
        for descriptor in descriptors { close(descriptor) }
        descriptors = []
    }
}
