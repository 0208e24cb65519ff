import Glibc
import UVRunLoop

/// A pipe whose ends are closed at the latest when it is gone.
package final class Pipe: Sendable {
    package let readEnd: CInt
    package let writeEnd: CInt
    private let isOpen = Guarded((read: true, write: true))

    /// Opens a pipe.
    ///
    /// - Parameter isReadEndHigh: Whether the read end has a number that no other test gets once it
    ///   is closed.
    package init(isReadEndHigh: Bool = false) {
        var ends: [CInt] = [-1, -1]
        precondition(pipe(&ends) == 0, "No pipe could be opened.")
        if isReadEndHigh {
            let low = ends[0]
            ends[0] = fcntl(low, F_DUPFD, 900)
            precondition(ends[0] >= 0, "The limit of descriptors is too low.")
            close(low)
        }
        // Processes that other tests start would keep the ends open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    package var isWriteEndOpen: Bool { isOpen.withLock(\.write) }

    package func write(_ text: String) {
        let bytes = Array(text.utf8)
        precondition(Glibc.write(writeEnd, bytes, bytes.count) == bytes.count)
    }

    /// The bytes that can be read; `nil` when there are none, and empty at the end.
    package func read(_ count: Int = 4096) -> String? {
        let flags = fcntl(readEnd, F_GETFL)
        _ = fcntl(readEnd, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(readEnd, F_SETFL, flags) }
        var bytes = [UInt8](repeating: 0, count: count)
        let length = Glibc.read(readEnd, &bytes, count)
        return length < 0 ? nil : String(decoding: bytes[..<length], as: UTF8.self)
    }

    /// Waits for something to read; empty at the end.
    @discardableResult
    package func readWaiting(_ count: Int = 4096) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        var length = -1
        repeat {
            length = Glibc.read(readEnd, &bytes, count)
        } while length < 0 && errno == EINTR
        return String(decoding: bytes[..<max(length, 0)], as: UTF8.self)
    }

    /// Waits until nobody has the write end any more, this process no longer included.
    package func awaitEnd() {
        dropWriteEnd()
        while !readWaiting().isEmpty {}
    }

    /// Closes the write end, and waits until the reader is told.
    ///
    /// A process that another test is starting has the write end, too, for a moment.
    package func closeWriteEnd() {
        dropWriteEnd()
        awaitCondition(seconds: 2) { isHungUp }
    }

    private func dropWriteEnd() {
        if isOpen.withLock({ exchange(&$0.write, with: false) }) { close(writeEnd) }
    }

    /// Whether the reader is told of the end, or gone itself.
    private var isHungUp: Bool {
        isOpen.withLock { isOpen in
            var state = pollfd(fd: readEnd, events: 0, revents: 0)
            return !isOpen.read || (poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP) != 0)
        }
    }

    /// Closes the read end, and waits until the writer is told, as ``closeWriteEnd()`` does.
    package func closeReadEnd() {
        dropReadEnd()
        awaitCondition(seconds: 2) { isBroken }
    }

    private func dropReadEnd() {
        if isOpen.withLock({ exchange(&$0.read, with: false) }) { close(readEnd) }
    }

    /// Whether the writer is told that nobody reads, or gone itself.
    private var isBroken: Bool {
        isOpen.withLock { isOpen in
            var state = pollfd(fd: writeEnd, events: 0, revents: 0)
            return !isOpen.write || (poll(&state, 1, 0) > 0 && state.revents & Int16(POLLERR) != 0)
        }
    }

    deinit {
        dropWriteEnd()
        dropReadEnd()
    }
}
