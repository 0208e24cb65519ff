import CUV
import CUVSupport
internal import UVLibc
import UVRunLoop

/// A `uv_tty_t` on a descriptor of its own, so that nobody else's flags change.
@safe
final class TerminalHandle: LoopHandle, @unchecked Sendable {
    typealias SystemError = UVRunLoop.SystemError

    private let raw: UnsafeMutablePointer<uv_tty_t>
    private var descriptor: CInt

    init(_ terminal: CInt) throws(SystemError) {
        let isTerminal = uv_guess_handle(terminal) == UV_TTY
        guard isTerminal else { throw SystemError(.open, .notATerminal) }
        let site = try LoopSite(.open)
        descriptor = cuv_duplicate(terminal, 3)
        guard descriptor >= 0 else {
            throw SystemError(.open, UVError(rawValue: descriptor))
        }
        unsafe raw = .allocate(capacity: 1)
        super.init(site)
        let flags = cuv_file_flags(descriptor)
        var status: CInt
        repeat {
            status = host.open { unsafe uv_tty_init(host.uvLoop, raw, descriptor, 0) }
        } while status == UV_EINTR.rawValue
        guard status >= 0 else {
            unsafe raw.deallocate()
            cuv_close(descriptor)
            throw SystemError(.open, UVError(rawValue: status))
        }
        unsafe raw.pointee.data = unsafe data
        host.insert(self)
        // If libuv cannot open the terminal once more, it makes the caller's file non-blocking.
        _ = cuv_set_file_flags(descriptor, flags)
        adoptReopenedTerminal()
    }

    /// Closes the descriptor that libuv was given, if it has opened the terminal once more.
    private func adoptReopenedTerminal() {
        let handle = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
        var used: uv_os_fd_t = -1
        guard unsafe uv_fileno(handle, &used) == 0, used != descriptor else { return }
        cuv_close(descriptor)
        descriptor = used
    }

    func setRaw(_ isRaw: Bool) throws(SystemError) {
        guard !isClosed else { throw SystemError(.configure, UVError.badDescriptor) }
        guard isRaw || TerminalFlags.isRaw(descriptor) else { return }
        guard cuv_terminal_interrupts(descriptor, SIGTTOU) == 0 else {
            throw SystemError(.configure, .inBackground)
        }
        try attempt(.configure) { () throws(UVError) in
            if isRaw {
                try TerminalFlags.makeRaw(descriptor)
            } else {
                try TerminalFlags.makeNormal(descriptor)
            }
        }
    }

    func size() throws(UVError) -> (columns: Int, rows: Int) {
        guard !isClosed else { throw .badDescriptor }
        var (columns, rows): (CInt, CInt) = (0, 0)
        try accepted(unsafe uv_tty_get_winsize(raw, &columns, &rows))
        return (Int(columns), Int(rows))
    }

    override func end() {
        TerminalFlags.putBack(of: descriptor)
        unsafe close(raw)
    }
}
