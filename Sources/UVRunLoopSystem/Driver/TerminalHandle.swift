import CUV
import CUVSupport
import Glibc
import UVRunLoop

/// A `uv_tty_t` on a descriptor of its own, so that nobody else's flags change.
@safe
final class TerminalHandle: LoopHandle, @unchecked Sendable {
    typealias SystemError = UVRunLoop.SystemError

    private let raw: UnsafeMutablePointer<uv_tty_t>
    private let descriptor: CInt

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
        let status = unsafe uv_tty_init(host.uvLoop, raw, descriptor, 0)
        guard status >= 0 else {
            unsafe raw.deallocate()
            cuv_close(descriptor)
            throw SystemError(.open, UVError(rawValue: status))
        }
        unsafe raw.pointee.data = unsafe data
        host.insert(self)
        TerminalFlags.keep(of: descriptor)
    }

    func setRaw(_ isRaw: Bool) throws(UVError) {
        guard !isClosed else { throw .badDescriptor }
        try accepted(unsafe uv_tty_set_mode(raw, isRaw ? UV_TTY_MODE_RAW : UV_TTY_MODE_NORMAL))
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

/// The flags of open terminals as they were, which are put back when the process exits.
///
/// libuv keeps those of one terminal only, under a number that may be another file's by then.
@safe
enum TerminalFlags {
    private struct Kept {
        var process: pid_t = 0
        var flags: [CInt: termios] = [:]
    }

    private static let kept = Guarded(Kept())
    private static let registration: Void = {
        _ = atexit { TerminalFlags.putBackAll() }
    }()

    static func keep(of descriptor: CInt) {
        _ = registration
        var flags = termios()
        guard unsafe tcgetattr(descriptor, &flags) == 0 else { return }
        let process = getpid()
        kept.withLock { kept in
            // A forked child puts back nothing of its parent's.
            if kept.process != process { kept = Kept(process: process) }
            kept.flags[descriptor] = flags
        }
    }

    static func putBack(of descriptor: CInt) {
        let flags = kept.withLock { $0.flags.removeValue(forKey: descriptor) }
        if let flags { set(flags, of: descriptor) }
    }

    private static func putBackAll() {
        let process = getpid()
        let all = kept.withLock { $0.process == process ? $0.flags : [:] }
        for (descriptor, flags) in all { set(flags, of: descriptor) }
    }

    private static func set(_ flags: termios, of descriptor: CInt) {
        var flags = flags
        while unsafe tcsetattr(descriptor, TCSANOW, &flags) != 0, errno == EINTR {}
    }
}
