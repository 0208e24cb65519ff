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

/// Waits until Dispatch has made the descriptors that its timers need.
///
/// The time limit of a test is such a timer. Dispatch makes the timerfd on a thread of its own,
/// late on a busy machine, and a test that counts descriptors would count it.
package func awaitDispatchTimers() async {
    let timer = Task { try? await Task.sleep(for: .seconds(3_600)) }
    while !openDescriptors().contains(where: isTimer) { usleep(1_000) }
    timer.cancel()
}

/// The open descriptors, with what they are.
package func openFiles() -> [String] {
    openDescriptors().map { "\($0) \(name(of: $0))" }
}

private func isTimer(_ descriptor: CInt) -> Bool { name(of: descriptor) == "anon_inode:[timerfd]" }

private func name(of descriptor: CInt) -> String {
    var name = [CChar](repeating: 0, count: 256)
    let length = readlink("/proc/self/fd/\(descriptor)", &name, name.count)
    return String(
        decoding: name.prefix(max(length, 0)).map { UInt8(bitPattern: $0) },
        as: UTF8.self
    )
}
