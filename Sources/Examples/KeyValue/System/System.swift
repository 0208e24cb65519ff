import Glibc

// System calls other than sockets and files.

extension WallTime {
    /// The current wall-clock time.
    static var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(milliseconds: Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000)
    }
}

/// Raises the descriptor limit to this number, or as far as the system permits.
///
/// Returns the resulting limit.
func allowDescriptors(_ count: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    if limit.rlim_cur < UInt(count) {
        limit.rlim_cur = min(limit.rlim_max, UInt(count))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return Int(min(limit.rlim_cur, UInt(Int.max)))
}

/// The process's resident memory in bytes.
func residentBytes() -> Int {
    let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var text = [UInt8](repeating: 0, count: 128)
    let count = read(descriptor, &text, text.count)
    let fields = text.prefix(max(count, 0)).split(separator: UInt8(ascii: " "))
    guard fields.count > 1, let pages = fields[1].decimalInteger else { return 0 }
    return pages * sysconf(Int32(_SC_PAGESIZE))
}

/// Writes a line to standard output, unbuffered; returns 0, or the number of the error.
@discardableResult
func say(_ line: String) -> CInt { write(line, to: STDOUT_FILENO) }

/// Writes a line to standard error.
func complain(_ sentence: String) { _ = write("KeyValue: \(sentence)", to: STDERR_FILENO) }

/// Prints why the program cannot go on, and ends it.
func fail(_ sentence: String, status: CInt = 1) -> Never {
    complain(sentence)
    exit(status)
}

private func write(_ line: String, to descriptor: CInt) -> CInt {
    var rest = Array("\(line)\n".utf8)
    while !rest.isEmpty {
        let count = write(descriptor, rest, rest.count)
        let error = count < 0 ? errno : 0
        if error == EAGAIN {
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&room, 1, -1)
        } else if error != 0, error != EINTR {
            return error
        }
        rest.removeFirst(max(count, 0))
    }
    return 0
}

/// The system's message for an error number.
func reason(_ code: CInt) -> String { String(cString: strerror(code)) }
