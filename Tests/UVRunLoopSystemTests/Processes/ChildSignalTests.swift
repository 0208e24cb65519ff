import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

/// Signals and input to child processes that cannot take them.
@Suite(.timeLimit(.minutes(15))) struct ChildSignalTests {
    @Test func aWaitThatASignalInterruptsIsRepeated() async {
        await #expect(processExitsWith: .success) {
            endProcess(after: 60)
            try onAnotherThread {
                let count = Guarded(0)
                intercept([.waitForProcess]) {
                    count.withLock { count in
                        count += 1
                        return count % 2 == 1 ? EINTR : 0
                    }
                }
                let story = ChildStory()
                let child = try ChildProcess(shell("exit 3"), handler: story.handler)
                UVRunLoop.current.add(child, forMode: .default)
                UVRunLoop.current.run(mode: .default, for: .seconds(50))
                precondition(
                    story.status == .exited(code: 3),
                    "\(String(describing: story.status))"
                )
                precondition(count.withLock { $0 } > 1)
            }
        }
    }

    @Test func aSignalToAnInvalidSourceSaysSo() throws {
        try withLoop { _ in
            let child = try UVRunLoop.ChildProcess(.init("sleep", ["600"])) { _, _ in }
            kill(child.process, SIGKILL)
            child.invalidate()
            #expect(
                code(of: { () throws(UVRunLoop.SystemError) in
                    try child.send(signal: SIGTERM)
                }) == .invalidated
            )
            #expect(awaitEnd(of: child.process) == -SIGKILL)
        }
    }

    /// The source is invalid by then, too.
    @Test func aSignalToAChildThatHasEndedSaysSo() throws {
        try withLoop { loop in
            let child = try UVRunLoop.ChildProcess(.init("true")) { _, _ in }
            loop.add(child, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(
                code(of: { () throws(UVRunLoop.SystemError) in
                    try child.send(signal: SIGTERM)
                }) == .processEnded
            )
        }
    }

    @Test func inputForAChildWithoutAPipeSaysSo() throws {
        try withLoop { loop in
            let child = try UVRunLoop.ChildProcess(.init("true", input: .null)) { _, _ in }
            loop.add(child, forMode: .default)
            #expect(
                code(of: { () throws(UVRunLoop.SystemError) in
                    try child.write([1])
                }) == .notAPipe
            )
            #expect(child.isValid)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
    }
}
