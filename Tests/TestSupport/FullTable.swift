import Glibc

/// Sets how many descriptors the process may have; those beyond that stay open.
///
/// With none, `poll` fails.
package func setDescriptorLimit(_ count: Int) {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    precondition(getrlimit(resource, &limit) == 0)
    limit.rlim_cur = rlim_t(count)
    precondition(setrlimit(resource, &limit) == 0, "The process may not have \(count) descriptors.")
}

/// The process's table of descriptors, filled up but for a few.
package final class FullTable: @unchecked Sendable {
    private var descriptors: [CInt] = []

    /// Lowers the limit, and opens descriptors until there are no more.
    package init() {
        setDescriptorLimit(128)
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
