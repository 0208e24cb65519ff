import Glibc
import TestSupport

extension ChildProgram {
    /// Waits until the child's loop sleeps and its epoll set has standard input.
    ///
    /// One check is not enough, because libuv adds a descriptor briefly to test it.
    func waitUntilItReads() {
        var sightings = 0
        awaitCondition(pause: 5_000) {
            sightings = watchesStandardInput ? sightings + 1 : 0
            return sightings == 5
        }
    }

    private var watchesStandardInput: Bool {
        (3..<20).contains { number in
            let file = open("/proc/\(process)/fdinfo/\(number)", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(file, &buffer, buffer.count)
            return String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
                .split(separator: "\n")
                .contains { $0.split(separator: " ").prefix(2) == ["tfd:", "0"] }
        }
    }
}
