@preconcurrency import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

/// What the loops of a process share while `exit` takes it away: the process ends with its status.
@Suite(.timeLimit(.minutes(15))) struct ProcessEndTests {
    @Test func aLoopMayBeginWorkWhileTheProcessEnds() async {
        await #expect(processExitsWith: .exitCode(7)) {
            whileTheProcessEnds { loop in
                let work = try UVRunLoop.Offload {
                } handler: { _, _ in
                }
                loop.add(work, forMode: .default)
                loop.run(mode: .default, for: .milliseconds(5))
            }
        }
    }

    @Test func aLoopMayResolveANameWhileTheProcessEnds() async {
        await #expect(processExitsWith: .exitCode(7)) {
            whileTheProcessEnds { loop in
                let resolver = try UVRunLoop.Resolver(host: "127.0.0.1") { _, _ in }
                loop.add(resolver, forMode: .default)
                loop.run(mode: .default, for: .milliseconds(5))
            }
        }
    }

    @Test func aLoopMayStartAChildWhileTheProcessEnds() async {
        await #expect(processExitsWith: .exitCode(7)) {
            whileTheProcessEnds { loop in
                let child = try UVRunLoop.ChildProcess(.init("/bin/true")) { _, _ in }
                loop.add(child, forMode: .default)
                loop.run(mode: .default, for: .milliseconds(50))
            }
        }
    }

    @Test func aLoopMayWithdrawWorkWhileTheProcessEnds() async {
        await #expect(processExitsWith: .exitCode(7)) {
            whileTheProcessEnds { loop in
                let work = try UVRunLoop.Offload {
                } handler: { _, _ in
                }
                work.invalidate()
            }
        }
    }
}

/// Exits with the status 7 while another thread does something again and again with its loop, until
/// it cannot any more.
///
/// The standard output is a pipe that nobody reads until then, and `exit` writes what is buffered
/// after the destructors of libraries.
private func whileTheProcessEnds(_ action: @escaping @Sendable (UVRunLoop) throws -> Void) {
    let pipe = Pipe()
    fill(pipe.writeEnd)
    precondition(dup2(pipe.writeEnd, STDOUT_FILENO) >= 0)
    setvbuf(stdout, nil, _IOFBF, 65_536)
    fputs("the rest", stdout)
    let isRunning = Signal()
    let actor = startThread {
        do {
            try action(UVRunLoop.current)
            isRunning.send()
            while true { try action(UVRunLoop.current) }
        } catch {
            // The process is ending. What is left of it follows.
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while read(pipe.readEnd, &bytes, bytes.count) > 0 {}
        }
    }
    isRunning.wait()
    withExtendedLifetime(actor) { exit(7) }
}

private func fill(_ pipe: CInt) {
    let flags = fcntl(pipe, F_GETFL)
    _ = fcntl(pipe, F_SETFL, flags | O_NONBLOCK)
    let bytes = [UInt8](repeating: 0, count: 4_096)
    while write(pipe, bytes, bytes.count) > 0 {}
    while write(pipe, bytes, 1) > 0 {}
    _ = fcntl(pipe, F_SETFL, flags & ~O_NONBLOCK)
}
