import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private typealias Offload = UVRunLoop.Offload

/// Work that cannot be queued, and rules that are broken.
@Suite(.timeLimit(.minutes(15))) struct OffloadFailureTests {
    @Test func workThatAnotherThreadWithdrawsBeforeItHasBegunIsNotDone() throws {
        try withLoop { loop in
            let (gate, log) = (Signal(), EventLog())
            // The threads of the pool are busy, and the loop's thread does not run its loop.
            let others = try (0..<8).map { _ in
                try Offload {
                    gate.wait()
                } handler: { _, _ in
                }
            }
            let withdrawn = try Offload {
                log.note("withdrawn")
            } handler: { _, _ in
            }
            let last = try Offload {
                log.note("last")
            } handler: { _, _ in
                loop.stop()
            }
            startUncheckedThread { withdrawn.invalidate() }.join()
            gate.send()
            for offload in others + [last] { loop.add(offload, forMode: .default) }
            #expect(loop.run(mode: .default, for: .seconds(600)) == .stopped)
            #expect(log.entries == ["last"])
            others.forEach { $0.invalidate() }
        }
    }

    @Test func runsOfAnEmptyModeFreeWhatWasInvalidated() throws {
        try withLoop { loop in
            let (isHeld, goOn) = (Signal(), Signal())
            // Until all threads of the pool are busy, work may begin at once.
            let busy = try (0..<4).map { _ in
                try UVRunLoop.Offload {
                    isHeld.send()
                    goOn.wait()
                } handler: { _, _ in
                }
            }
            for _ in busy { isHeld.wait() }
            weak var token: Token?
            do {
                let made = Token()
                token = made
                let work = try UVRunLoop.Offload {
                    withExtendedLifetime(made) {}
                } handler: { _, _ in
                }
                loop.add(work, forMode: .default)
                work.invalidate()
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(token == nil)
            for _ in busy { goOn.send() }
            busy.forEach { $0.invalidate() }
        }
    }

    /// The sanitizer needs memory of its own.
    @Test(.enabled(if: !isUnderThreadSanitizer))
    func aProcessThatMayHaveNoMoreThreadsThrows() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                withLoop { _ in
                    var limit = rlimit()
                    getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
                    let previous = limit.rlim_cur
                    // Room for what the call allocates, but not for another stack.
                    limit.rlim_cur = sizeOfThisProcess() + 2 << 20
                    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
                    let offload = try? Offload {
                        1
                    } handler: { _, _ in
                    }
                    limit.rlim_cur = previous
                    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
                    precondition(offload == nil)
                    useLoopOnce()
                }
            }
        }
    }

    @Test func aSourceOfAnotherLoopTraps() async {
        await #expect(processExitsWith: .failure) {
            addToAnotherLoop()
        }
    }

    @Test func virtualTimeTraps() async {
        await #expect(processExitsWith: .failure) {
            withLoop(.manual) { _, _ in
                _ = try? Offload {
                    1
                } handler: { _, _ in
                }
            }
        }
    }
}

private func addToAnotherLoop() {
    let offload = try? Offload {
        1
    } handler: { _, _ in
    }
    guard let offload else { return }
    onAnotherThread { UVRunLoop.current.add(offload, forMode: .default) }
}

/// In bytes, with all that is reserved.
private func sizeOfThisProcess() -> rlim_t {
    let file = open("/proc/self/statm", O_RDONLY)
    defer { close(file) }
    var text = [CChar](repeating: 0, count: 64)
    read(file, &text, text.count - 1)
    return strtoul(text, nil, 10) * rlim_t(getpagesize())
}

private final class Token: Sendable {}
