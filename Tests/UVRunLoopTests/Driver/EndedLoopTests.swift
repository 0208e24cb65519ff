import Glibc
import Testing
import UVRunLoop

/// Loops whose threads have ended, or are ending, while other loops take over what they leave.
@Suite(.timeLimit(.minutes(15))) struct EndedLoopTests {
    // In processes of their own, where no other test's thread begins or ends meanwhile.

    @Test func aCallOnAnEndedLoopDoesNotReachATimerOfALaterOne() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { removeATimerFromAnEndedLoop() }
        }
    }

    @Test func aDyingThreadSendsToAPortOfALaterLoop() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                useALaterLoop { _, port in _ = port.send(UVRunLoop.PortMessage(components: [])) }
            }
        }
    }

    @Test func aDyingThreadInvalidatesATimerOfALaterLoop() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                useALaterLoop { timer, port in
                    timer.invalidate()
                    _ = port.send(UVRunLoop.PortMessage(components: []))
                }
            }
        }
    }

    @Test func aDyingThreadChangesTheDateOfATimerOfALaterLoop() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                useALaterLoop { timer, port in
                    timer.nextFireDate = .now + .seconds(7_200)
                    _ = port.send(UVRunLoop.PortMessage(components: []))
                }
            }
        }
    }

    /// The descriptor's owner closes it next.
    @Test func theKernelWatchesNoDescriptorThatIsInvalidatedWhileItsLoopEnds() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { invalidateASourceOfAnEndingLoop() }
        }
    }
}

/// Ends a loop, and removes from it what another loop has.
private func removeATimerFromAnEndedLoop() {
    let ended = SharedBox<UVRunLoop?>(nil)
    startThread {
        let loop = UVRunLoop.current
        let timer = UVRunLoop.Timer(after: .seconds(3_600), sendableHandler: { _ in })
        // The loop knows the mode then.
        loop.add(timer, forMode: .default)
        timer.invalidate()
        ended.value = loop
    }.join()
    let (ready, done) = (Signal(), Signal())
    let added = SharedBox<UVRunLoop.Timer?>(nil)
    let thread = startThread {
        let loop = UVRunLoop.current
        let fires = Counter()
        let counting = UVRunLoop.Timer(
            after: .milliseconds(1),
            interval: .milliseconds(1),
            sendableHandler: { _ in
                fires.add()
                if fires.value == 3 { loop.stop() }
            }
        )
        loop.add(counting, forMode: .default)
        added.value = counting
        ready.send()
        done.wait()
        precondition(loop.contains(counting, forMode: .default))
        precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
    }
    ready.wait()
    guard let loop = ended.value, let timer = added.value else {
        preconditionFailure("Nothing was added.")
    }
    precondition(!loop.contains(timer, forMode: .default))
    loop.remove(timer, forMode: .default)
    done.send()
    thread.join()
}

/// Has a thread that is ending act on a timer and a port of a loop that began meanwhile.
///
/// The port's message ends the other loop's run; the timer must not fire.
private func useALaterLoop(
    _ act: @escaping @Sendable (UVRunLoop.Timer, UVRunLoop.Port) -> Void
) {
    let (isEnding, isMade, hasActed) = (Signal(), Signal(), Signal())
    let items = SharedBox<(UVRunLoop.Timer, UVRunLoop.Port)?>(nil)
    let dying = startThread {
        let source = UVRunLoop.Source(
            cancel: { _, _ in
                isEnding.send()
                isMade.wait()
                if let (timer, port) = items.value { act(timer, port) }
                hasActed.send()
            },
            sendablePerform: { _ in }
        )
        UVRunLoop.current.add(source, forMode: .default)
    }
    isEnding.wait()
    let later = startThread {
        let loop = UVRunLoop.current
        let port = UVRunLoop.Port(sendableHandler: { _, _ in loop.stop() })
        let timer = UVRunLoop.Timer(after: .seconds(3_600), sendableHandler: { _ in })
        loop.add(port, forMode: .default)
        loop.add(timer, forMode: .default)
        items.value = (timer, port)
        isMade.send()
        hasActed.wait()
        precondition(timer.isValid == loop.contains(timer, forMode: .default))
        precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        port.invalidate()
        timer.invalidate()
        precondition(loop.run(mode: .default, for: .zero) == .finished)
    }
    dying.join()
    later.join()
}

private func invalidateASourceOfAnEndingLoop() {
    let pipe = Pipe()
    let isNonBlocking = { @Sendable in fcntl(pipe.readEnd, F_GETFL) & O_NONBLOCK != 0 }
    let (isEnding, isDone) = (Signal(), Signal())
    let added = SharedBox<UVRunLoop.DescriptorSource?>(nil)
    let thread = startThread {
        let loop = UVRunLoop.current
        added.value = try? UVRunLoop.DescriptorSource(
            pipe.readEnd,
            events: .readable,
            sendableHandler: { _, _ in }
        )
        guard let source = added.value else { preconditionFailure("The source was refused.") }
        let canceller = UVRunLoop.Source(
            cancel: { _, _ in
                isEnding.send()
                isDone.wait()
            },
            sendablePerform: { _ in }
        )
        loop.add(source, forMode: .default)
        loop.add(canceller, forMode: .default)
        loop.run(mode: .default, for: .zero)
        precondition(isNonBlocking(), "libuv does not watch the descriptor.")
    }
    isEnding.wait()
    added.value?.invalidate()
    precondition(!isNonBlocking(), "The source was invalid before its descriptor was released.")
    isDone.send()
    thread.join()
}
