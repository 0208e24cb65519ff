import Glibc

// Wrappers of C library calls, with their special cases as enum cases.

/// The two ends of a pipe.
struct Pipe {
    let readEnd: CInt
    let writeEnd: CInt

    init() {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { fail("cannot make a pipe: \(reason(errno))") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }
}

/// The result of one read.
enum ReadResult {
    case bytes(Int)
    case nothingYet
    case end
    case failed(CInt)
}

/// Reads what is available, up to the size of the buffer.
func read(from descriptor: CInt, into buffer: inout [UInt8]) -> ReadResult {
    while true {
        let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        switch errno {
        case EINTR: continue
        case EAGAIN: return .nothingYet
        default: return .failed(errno)
        }
    }
}

/// Writes all bytes, blocking if needed.
///
/// Returns 0 or an error number.
func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) -> CInt {
    var rest = bytes
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            wait(for: POLLOUT, on: descriptor)
        } else if errno != EINTR {
            return errno
        }
    }
    return 0
}

/// Blocks the thread until a descriptor, which may be non-blocking, is ready.
func wait(for event: CInt, on descriptor: CInt) {
    var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    _ = poll(&request, 1, -1)
}

/// Opens the closed standard descriptors, so that no pipe is given one of their numbers.
///
/// Each is opened in the wrong direction, so that using it is still an error.
func occupyStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
        _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
}

/// The system's message for an error number.
func reason(_ code: CInt) -> String { String(cString: strerror(code)) }
