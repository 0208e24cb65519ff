import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

/// Children that are started while other threads fork.
@Suite(.timeLimit(.minutes(15))) struct StartAmidForksTests {
    /// Such a child inherits what libuv has open at the moment, and keeps it for as long as it lives.
    @Test func aStartDoesNotWaitForTheEndOfAForkedChild() async {
        await #expect(processExitsWith: .success) {
            let isOver = SharedBox(false)
            let forked = SharedBox<[pid_t]>([])
            let forker = startThread {
                while !isOver.value, forked.value.count < 300 {
                    let child = startChild {
                        pause()
                        return 0
                    }
                    forked.value.append(child)
                    usleep(1_000)
                }
            }
            let rescuer = startThread {
                awaitCondition(seconds: 60) { isOver.value }
                precondition(isOver.value, "A start waits for a child that another thread forked.")
            }
            try withLoop { loop in
                for _ in 0..<30 {
                    let child = try UVRunLoop.ChildProcess(.init("true")) { _, _ in }
                    loop.add(child, forMode: .default)
                    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                }
            }
            isOver.value = true
            forker.join()
            rescuer.join()
            for child in forked.value {
                kill(child, SIGKILL)
                _ = awaitEnd(of: child)
            }
        }
    }
}
