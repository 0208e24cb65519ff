import Glibc
import Testing
import UVRunLoop

/// The signals that ask a process to end or to read its configuration again, in one line each.
///
/// Each test that forks does so from a process of its own: in this one, other threads may hold
/// locks of the runtime, which stay held in the child.
@Suite(.timeLimit(.minutes(15))) struct TerminationTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func theFirstSignalCallsTheHandlerOnce(signal: CInt) async {
        await #expect(processExitsWith: .success) { [signal] in
            let status = inChild { handleFirst(signal) }
            precondition(status == 0, "It ended with \(status).")
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func theSecondSignalEndsTheProcess(signal: CInt) async {
        await #expect(processExitsWith: .success) { [signal] in
            let status = inChild {
                letSignalsThrough()
                let loop = keptLoop()
                _ = try? loop.onTermination { kill(getpid(), signal) }
                kill(getpid(), SIGTERM)
                loop.run(mode: .default, for: .seconds(60))
                return 1
            }
            precondition(status == -signal, "It ended with \(status).")
        }
    }

    @Test(
        .disabled(
            if: isUnderThreadSanitizer,
            "The sanitizer delivers the second signal after the first has been served."
        )
    )
    func twoSignalsThatArriveTogetherEndTheProcess() async {
        await #expect(processExitsWith: .success) {
            let status = inChild {
                letSignalsThrough()
                let loop = keptLoop()
                _ = try? loop.onTermination {}
                kill(getpid(), SIGTERM)
                kill(getpid(), SIGINT)
                loop.run(mode: .default, for: .seconds(60))
                return 1
            }
            precondition(status == -SIGTERM || status == -SIGINT, "It ended with \(status).")
        }
    }

    @Test func anIgnoredSignalIsIgnoredAgainAfterTheFirst() async {
        await #expect(processExitsWith: .success) {
            let status = inChild {
                letSignalsThrough()
                signal(SIGTERM, SIG_IGN)
                let (loop, count) = (UVRunLoop.current, Box(0))
                _ = try? loop.onTermination { count.value += 1 }
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                for limit in [Duration.seconds(60), .milliseconds(50)] {
                    kill(getpid(), SIGTERM)
                    loop.run(for: limit, returnAfterSourceHandled: true)
                }
                return count.value == 1 ? 0 : 1
            }
            precondition(status == 0, "It ended with \(status).")
        }
    }

    /// The first calls the handler, whichever the loop serves first, and the second has its effect.
    @Test(
        .disabled(
            if: isUnderThreadSanitizer,
            "The sanitizer delivers the second signal after the first has been served."
        ),
        arguments: [[SIGINT, SIGTERM], [SIGTERM, SIGINT]]
    )
    func theSecondOfTwoThatArriveTogetherHasItsEffect(signals: [CInt]) async {
        await #expect(processExitsWith: .success) { [signals] in
            let status = inChild {
                letSignalsThrough()
                signal(SIGINT, SIG_IGN)
                let (loop, count) = (UVRunLoop.current, Box(0))
                _ = try? loop.onTermination { count.value += 1 }
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                for signal in signals { kill(getpid(), signal) }
                loop.run(for: .seconds(60), returnAfterSourceHandled: true)
                return count.value == 1 ? 0 : 1
            }
            let expected = signals == [SIGINT, SIGTERM] ? -SIGTERM : 0
            precondition(status == expected, "It ended with \(status).")
        }
    }

    @Test func sourcesThatAreRemovedAndReleasedGiveTheSignalsBack() async {
        await #expect(processExitsWith: .success) {
            let status = inChild {
                letSignalsThrough()
                let (loop, wasReleased) = (UVRunLoop.current, SharedBox(false))
                watchAndRemove(in: loop, Farewell { wasReleased.value = true })
                if !wasReleased.value { return 1 }
                kill(getpid(), SIGTERM)
                return 2
            }
            precondition(status == -SIGTERM, "It ended with \(status).")
        }
    }

    @Test func theSignalsDoNotKeepARunFromFinishing() async {
        await #expect(processExitsWith: .success) {
            let status = inChild {
                let loop = UVRunLoop.current
                _ = try? loop.onTermination {}
                _ = try? loop.onHangUp {}
                loop.add(UVRunLoop.Timer(after: .milliseconds(1)) { _ in }, forMode: .default)
                return loop.run(mode: .default, for: .seconds(60)) == .finished ? 0 : 1
            }
            precondition(status == 0, "It ended with \(status).")
        }
    }

    @Test func everyHandlerIsCalledBeforeASecondSignalCounts() async {
        await #expect(processExitsWith: .success) {
            let status = inChild {
                letSignalsThrough()
                let (loop, log) = (UVRunLoop.current, EventLog())
                _ = try? loop.onTermination { log.note("one") }
                _ = try? loop.onTermination(sendableHandler: { log.note("two") })
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                kill(getpid(), SIGTERM)
                while log.count < 2 { loop.run(for: .seconds(60), returnAfterSourceHandled: true) }
                return log.entries == ["one", "two"] ? 0 : 1
            }
            precondition(status == 0, "It ended with \(status).")
        }
    }

    @Test func hangUpsAreToldEachTime() async {
        await #expect(processExitsWith: .success) {
            let status = inChild {
                letSignalsThrough()
                let (loop, count) = (UVRunLoop.current, Box(0))
                let source = try? loop.onHangUp { count.value += 1 }
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                for number in 1...3 {
                    kill(getpid(), SIGHUP)
                    loop.run(for: .seconds(60), returnAfterSourceHandled: true)
                    if count.value != number { return 1 }
                }
                source?.invalidate()
                return 0
            }
            precondition(status == 0, "It ended with \(status).")
        }
    }

    /// Without a fork: a forked child that starts a thread may hang in the runtime of Swift, and
    /// the loop is not this thread's.
    @Test func aLoopThatHasEndedLeavesTheSignalsAsTheyAre() async {
        await #expect(processExitsWith: .signal(SIGTERM)) { try endAfterWatching(SIGTERM) }
        await #expect(processExitsWith: .signal(SIGHUP)) { try endAfterWatching(SIGHUP) }
    }

    @Test func aPlainHandlerOfAnotherThreadsLoopTraps() async {
        await #expect(processExitsWith: .failure) {
            try watchOnAnotherThread()
        }
    }
}

/// Sends the process a signal that the loop of a thread that has ended was told to watch.
private func endAfterWatching(_ signal: CInt) throws {
    letSignalsThrough()
    let thread = try UVRunLoop.Thread()
    thread.stop()
    thread.join()
    _ = try thread.runLoop.onTermination(sendableHandler: {})
    _ = try thread.runLoop.onHangUp(sendableHandler: {})
    kill(getpid(), signal)
}

private func watchOnAnotherThread() throws {
    try UVRunLoop.Thread().runLoop.onTermination {}
}

/// The thread's loop, whose default mode is not empty.
private func keptLoop() -> UVRunLoop {
    UVRunLoop.current.add(UVRunLoop.Source { _ in }, forMode: .default)
    return UVRunLoop.current
}

private func handleFirst(_ signal: CInt) -> CInt {
    letSignalsThrough()
    let (loop, count) = (UVRunLoop.current, Box(0))
    _ = try? loop.onTermination {
        count.value += 1
        loop.stop()
    }
    loop.add(UVRunLoop.Source { _ in }, forMode: .default)
    kill(getpid(), signal)
    return loop.run(mode: .default, for: .seconds(60)) == .stopped && count.value == 1 ? 0 : 1
}

/// Threads that run tests block signals, and a forked child inherits that.
private func letSignalsThrough() {
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
}

private func watchAndRemove(in loop: UVRunLoop, _ captured: Farewell) {
    let sources = try? loop.onTermination { withExtendedLifetime(captured) {} }
    for source in sources ?? [] { loop.remove(source, forMode: .common) }
}
