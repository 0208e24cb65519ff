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
        let status = host.open { unsafe uv_tty_init(host.uvLoop, raw, descriptor, 0) }
        guard status >= 0 else {
            unsafe raw.deallocate()
            cuv_close(descriptor)
            throw SystemError(.open, UVError(rawValue: status))
        }
        unsafe raw.pointee.data = unsafe data
        host.insert(self)
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
        guard cuv_terminal_interrupts(descriptor, SIGTTOU) == 0 else {
            throw SystemError(.configure, .inBackground)
        }
        TerminalFlags.keep(of: descriptor)
        try attempt(.configure) { () throws(UVError) in
            // libuv does nothing in the mode that it has set last, which other code, such as a
            // shell while this process was stopped, may have changed.
            if isRaw, !TerminalFlags.areRaw(of: descriptor) { try set(UV_TTY_MODE_NORMAL) }
            try set(isRaw ? UV_TTY_MODE_RAW : UV_TTY_MODE_NORMAL)
        }
    }

    private func set(_ mode: uv_tty_mode_t) throws(UVError) {
        try accepted(unsafe uv_tty_set_mode(raw, mode))
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

/// The flags that open terminals had before their modes were set.
///
/// They are put back when the last of a terminal's handles that has set one is closed, or the
/// process exits; not in the background of a terminal, which belongs to others then.
///
/// libuv keeps those of one terminal only, under a number that may be another file's by then.
@safe
enum TerminalFlags {
    /// The terminals of a process, by their descriptors; a forked child puts back nothing of its
    /// parent's.
    private static let kept = GuardedPerProcess<[CInt: Terminal]> { [:] }

    private struct Terminal {
        let number: Int64
        let flags: termios
    }

    private static let registration: Void = {
        _ = atexit { TerminalFlags.putBackAll() }
    }()

    /// Keeps the flags of a terminal whose mode is about to be set.
    static func keep(of descriptor: CInt) {
        _ = registration
        guard let flags = flags(of: descriptor) else { return }
        let found = Terminal(number: cuv_terminal_number(descriptor), flags: flags)
        kept.withLock { terminals in
            guard terminals[descriptor] == nil else { return }
            // The flags that the first handle found: the terminal may be in raw mode since.
            let first = terminals.values.first { $0.number == found.number }
            terminals[descriptor] = first ?? found
        }
    }

    static func putBack(of descriptor: CInt) {
        let terminal = kept.withLock { terminals -> Terminal? in
            guard let terminal = terminals.removeValue(forKey: descriptor) else { return nil }
            let isShared = terminals.values.contains { $0.number == terminal.number }
            return isShared ? nil : terminal
        }
        if let terminal { set(terminal.flags, of: descriptor) }
    }

    private static func putBackAll() {
        for (descriptor, terminal) in kept.withLock({ $0 }) {
            set(terminal.flags, of: descriptor)
        }
    }

    /// Whether keys are passed on as they are typed.
    static func areRaw(of descriptor: CInt) -> Bool {
        let cooked = tcflag_t(ECHO | ICANON | IEXTEN | ISIG)
        return flags(of: descriptor).map { $0.c_lflag & cooked == 0 } ?? false
    }

    private static func flags(of descriptor: CInt) -> termios? {
        var flags = termios()
        return unsafe tcgetattr(descriptor, &flags) == 0 ? flags : nil
    }

    private static func set(_ flags: termios, of descriptor: CInt) {
        guard cuv_terminal_refuses(descriptor, SIGTTOU) == 0 else { return }
        var flags = flags
        while unsafe tcsetattr(descriptor, TCSANOW, &flags) != 0, errno == EINTR {}
    }
}
