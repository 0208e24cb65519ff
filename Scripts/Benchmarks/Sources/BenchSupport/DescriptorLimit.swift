import Glibc

/// How many descriptors the process may have open at the same time.
package enum DescriptorLimit {
    /// Raises the limit as far as the system allows.
    package static func raise() {
        var limit = current
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }

    package static var number: Int { Int(clamping: current.rlim_cur) }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static var current: rlimit {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { fail("there is no limit of descriptors.") }
        return limit
    }
}
