import Glibc

/// The processor time that the calling thread has used, in nanoseconds.
package func threadProcessorTime() -> Int64 { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }

/// The processor time that the process has used, in nanoseconds.
package func processProcessorTime() -> Int64 { nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID) }

private func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// The descriptors that the process has open, in order.
package func openDescriptors() -> [CInt] {
    guard let directory = opendir("/proc/self/fd") else { return [] }
    defer { closedir(directory) }
    var numbers: [CInt] = []
    while let name = nextName(in: directory) {
        if let number = CInt(name), number != dirfd(directory) { numbers.append(number) }
    }
    return numbers.sorted()
}

package func openDescriptorCount() -> Int { openDescriptors().count }
