import CUV
import CUVSupport
internal import UVLibc
import UVRunLoop

/// The flags that open terminals had before their modes were set.
///
/// They are put back when the last of a terminal's handles that has set one is closed, or the
/// process exits; not in the background of a terminal, which belongs to others then.
///
/// One lock is held while a mode is set and while flags are put back, so that each thread finds
/// either what was before all of them or what one of them has set and kept.
///
/// libuv keeps the flags of one terminal only, under a number that may be another file's by then.
@safe
enum TerminalFlags {
    /// A forked child puts back nothing of its parent's.
    private static let state = GuardedPerProcess<State> { State() }

    private struct State {
        /// By the handles' descriptors.
        var kept: [CInt: Terminal] = [:]
        /// Whether the process has put all flags back, because it exits.
        var isOver = false
    }

    private struct Terminal {
        let number: Int64
        let flags: termios
    }

    private static let registration: Void = {
        _ = atexit { TerminalFlags.putBackAll() }
    }()

    /// Changes the mode of a terminal, and keeps the flags from before.
    ///
    /// - Parameters:
    ///   - descriptor: The terminal.
    ///   - set: Sets the mode; returns libuv's status.
    /// - Returns: The status; `ECANCELED` if the process is ending.
    static func change(of descriptor: CInt, _ set: () -> CInt) -> CInt {
        _ = registration
        return state.withLock { state in
            guard !state.isOver else { return UV_ECANCELED.rawValue }
            keep(of: descriptor, in: &state.kept)
            return set()
        }
    }

    private static func keep(of descriptor: CInt, in kept: inout [CInt: Terminal]) {
        guard kept[descriptor] == nil, let flags = flags(of: descriptor) else { return }
        let number = cuv_terminal_number(descriptor)
        // The flags that the first handle found: the terminal may be in raw mode since.
        let first = kept.values.first { $0.number == number }
        kept[descriptor] = first ?? Terminal(number: number, flags: flags)
    }

    static func putBack(of descriptor: CInt) {
        state.withLock { state in
            guard let terminal = state.kept.removeValue(forKey: descriptor),
                !state.kept.values.contains(where: { $0.number == terminal.number })
            else { return }
            set(terminal.flags, of: descriptor)
        }
    }

    private static func putBackAll() {
        state.withLock { state in
            state.isOver = true
            for (descriptor, terminal) in state.kept { set(terminal.flags, of: descriptor) }
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
