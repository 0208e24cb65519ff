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
/// either what was before all of them or what one of them has set and kept. libuv sets a mode only
/// when no write to the terminal waits, which may take for ever, and keeps the flags of one terminal
/// only, under a number that may be another file's by then.
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
        /// Those that the first handle found.
        let first: termios
        /// What this handle found, unless it has put that back.
        var found: Found?

        /// Whether a number is that of this terminal; kernels that tell none keep them apart.
        func isSame(as number: Int64) -> Bool { number >= 0 && number == self.number }
    }

    private struct Found {
        let flags: termios
        /// Those from before all handles that were raw then, which the last of them puts back.
        let base: termios
    }

    private static let registration: Void = {
        _ = atexit { TerminalFlags.putBackAll() }
    }()

    /// Makes a terminal raw, and keeps the flags from before.
    ///
    /// - Throws: The kernel's refusal; `ECANCELED` if the process is ending.
    static func makeRaw(_ descriptor: CInt) throws(UVError) {
        _ = registration
        try change { kept in
            var flags = termios()
            var status = unsafe cuv_terminal_get(descriptor, &flags)
            if status == 0 { status = unsafe cuv_terminal_make_raw(descriptor, &flags) }
            if status == 0 { keep(flags, of: descriptor, in: &kept) }
            return status
        }
    }

    private static func keep(
        _ flags: termios,
        of descriptor: CInt,
        in kept: inout [CInt: Terminal]
    ) {
        let number = cuv_terminal_number(descriptor)
        // The terminal may be in raw mode since.
        let first = kept.values.first { $0.isSame(as: number) }?.first ?? flags
        var terminal = kept[descriptor] ?? Terminal(number: number, first: first)
        // In its raw mode the handle has found nothing new, even if other code has changed it.
        if terminal.found == nil {
            terminal.found = Found(flags: flags, base: found(of: number, in: kept)?.base ?? flags)
        }
        kept[descriptor] = terminal
    }

    /// What one of the handles has found that have made a terminal raw.
    private static func found(of number: Int64, in kept: [CInt: Terminal]) -> Found? {
        kept.values.first { $0.found != nil && $0.isSame(as: number) }?.found
    }

    /// Whether a handle has made its terminal raw.
    static func isRaw(_ descriptor: CInt) -> Bool {
        state.withLock { $0.kept[descriptor]?.found != nil }
    }

    /// Puts back what the handle has found; does nothing if it has not made the terminal raw.
    ///
    /// - Throws: As ``makeRaw(_:)``.
    static func makeNormal(_ descriptor: CInt) throws(UVError) {
        try change { kept in
            guard let terminal = kept[descriptor], let own = terminal.found else { return 0 }
            let others = kept.filter { $0.key != descriptor }
            let isLast = found(of: terminal.number, in: others) == nil
            let status = set(isLast ? own.base : own.flags, of: descriptor)
            if status == 0 { kept[descriptor]?.found = nil }
            return status
        }
    }

    /// Sets a mode, unless the process has put all flags back.
    private static func change(_ set: (inout [CInt: Terminal]) -> CInt) throws(UVError) {
        try accepted(
            state.withLock { $0.isOver ? UV_ECANCELED.rawValue : set(&$0.kept) }
        )
    }

    static func putBack(of descriptor: CInt) {
        state.withLock { state in
            guard let terminal = state.kept.removeValue(forKey: descriptor),
                !state.kept.values.contains(where: { $0.isSame(as: terminal.number) })
            else { return }
            putBack(terminal, of: descriptor)
        }
    }

    private static func putBackAll() {
        state.withLock { state in
            state.isOver = true
            for (descriptor, terminal) in state.kept { putBack(terminal, of: descriptor) }
        }
    }

    private static func putBack(_ terminal: Terminal, of descriptor: CInt) {
        guard cuv_terminal_is_in_background(descriptor) == 0 else { return }
        _ = set(terminal.first, of: descriptor)
    }

    private static func set(_ flags: termios, of descriptor: CInt) -> CInt {
        var flags = flags
        return unsafe cuv_terminal_set(descriptor, &flags)
    }
}
