import Glibc

/// Two connected sockets, which no program inherits.
package func socketPair() -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0, "No sockets could be opened.")
    return (ends[0], ends[1])
}

/// Closes the other end of a connection, and waits until this end is told.
///
/// A process that another test is starting has the other end, too, for a moment.
package func closePeer(_ peer: CInt, of descriptor: CInt) {
    close(peer)
    for _ in 0..<20_000 {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        if poll(&state, 1, 0) > 0 { return }
        usleep(100)
    }
}

package func isNonBlocking(_ descriptor: CInt) -> Bool {
    fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0
}

/// Reads from a descriptor without waiting; returns how many bytes came, or -1.
@discardableResult
package func drain(_ descriptor: CInt) -> Int {
    var bytes = [UInt8](repeating: 0, count: 4096)
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&state, 1, 0) > 0 else { return -1 }
    return read(descriptor, &bytes, bytes.count)
}

/// Writes a text to a descriptor at once.
package func write(_ text: String, to descriptor: CInt) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(descriptor, bytes, bytes.count)
}

/// Writes a line of a program's story at once, so that a fork does not write it twice.
package func tell(_ line: String) { write("\(line)\n", to: STDOUT_FILENO) }

/// Closes descriptors 0, 1 and 2, as in a process that was started without them.
package func closeStandardDescriptors() {
    for standard in CInt(0)...2 { close(standard) }
}

/// Checks that nothing has taken the numbers since ``closeStandardDescriptors()``.
package func expectClosedStandardDescriptors() {
    for standard in CInt(0)...2 {
        precondition(fcntl(standard, F_GETFD) < 0, "\(standard) is open.")
    }
}
