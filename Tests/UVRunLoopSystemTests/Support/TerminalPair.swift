import Glibc
import TestSupport

/// A pseudo-terminal, and the other end of it.
final class TerminalPair: Sendable {
    /// TIOCSPTLCK and TIOCGPTN, which are macros.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    let other: CInt
    let terminal: CInt

    init() {
        other = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, isLocked): (CInt, CInt) = (0, 0)
        precondition(ioctl(other, Self.setLock, &isLocked) == 0)
        precondition(ioctl(other, Self.getNumber, &number) == 0)
        terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        precondition(terminal >= 0)
    }

    var echoes: Bool { localFlags & tcflag_t(ECHO) != 0 }

    var localFlags: tcflag_t { flags.c_lflag }

    private var flags: termios {
        var flags = termios()
        precondition(tcgetattr(terminal, &flags) == 0)
        return flags
    }

    /// Whether a write to the terminal would not wait.
    var hasRoom: Bool {
        var state = pollfd(fd: terminal, events: Int16(POLLOUT), revents: 0)
        return poll(&state, 1, 0) == 1
    }

    /// Sets other flags, as a shell does.
    func change(_ body: (inout termios) -> Void) {
        var flags = flags
        body(&flags)
        precondition(tcsetattr(terminal, TCSANOW, &flags) == 0)
    }

    /// Has a process group use the terminal, also if the calling one is in its background.
    func moveToForeground(_ group: pid_t) {
        let former = signal(SIGTTOU, SIG_IGN)
        precondition(tcsetpgrp(terminal, group) == 0)
        signal(SIGTTOU, former)
    }

    deinit {
        close(terminal)
        close(other)
    }
}

/// Runs a body in a process with a session of its own and a controlling terminal.
func expectSuccess(inSession body: (TerminalPair) throws -> Void) {
    let pair = TerminalPair()
    expectSuccess {
        // The threads of a pool block signals, which have no effect then.
        var none = sigset_t()
        sigemptyset(&none)
        precondition(pthread_sigmask(SIG_SETMASK, &none, nil) == 0)
        precondition(setsid() > 0 && ioctl(pair.terminal, UInt(TIOCSCTTY), 0) == 0)
        try body(pair)
    }
}

/// Runs a body in a process that is in the background of its controlling terminal.
func expectSuccess(inBackground body: (TerminalPair) throws -> Void) {
    expectSuccess(inSession: { pair in
        // Not the session's first process, which the kernel does not stop.
        expectSuccess {
            precondition(setpgid(0, 0) == 0)
            try body(pair)
        }
    })
}

/// The same for a process whose parent, a shell that waits for it, is in its group.
func expectSuccess(inBackgroundBehindShell body: (TerminalPair) throws -> Void) {
    expectSuccess(inBackground: { pair in expectSuccess { try body(pair) } })
}

/// The same for a process that is alone in its group, because its parent has ended.
func expectSuccess(inOrphanedGroup body: (TerminalPair) throws -> Void) {
    expectSuccess(inBackground: { pair in
        expectSuccess(ofOrphan: { try body(pair) }, inOwnGroup: true)
    })
}

/// The same for a process whose parent, a shell without a parent, is in its group.
func expectSuccess(inOrphanedGroupBehindShell body: (TerminalPair) throws -> Void) {
    expectSuccess(inOrphanedGroup: { pair in expectSuccess { try body(pair) } })
}

/// The same for a process whose parent has ended, while another one of its group has a shell.
func expectSuccess(inBackgroundWithoutParent body: (TerminalPair) throws -> Void) {
    expectSuccess(inBackground: { pair in
        expectSuccess(ofOrphan: { try body(pair) }, inOwnGroup: false)
    })
}

private func expectSuccess(ofOrphan body: () throws -> Void, inOwnGroup isInOwnGroup: Bool) {
    let succeeds = Pipe()
    expectSuccess {
        if isInOwnGroup { precondition(setpgid(0, 0) == 0) }
        let parent = getpid()
        _ = startChild(endingAfter: 60) {
            while getppid() == parent { usleep(1_000) }
            guard (try? body()) != nil else { return 1 }
            succeeds.write("x")
            return 0
        }
    }
    succeeds.closeWriteEnd()
    var byte: UInt8 = 0
    precondition(read(succeeds.readEnd, &byte, 1) == 1)
}

private func expectSuccess(inChild body: () throws -> Void) {
    let status = inChild(endingAfter: 60) {
        do {
            try body()
            return 0
        } catch {
            return 1
        }
    }
    precondition(status == 0, "The child ended with \(status).")
}
