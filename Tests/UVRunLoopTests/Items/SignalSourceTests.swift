import Glibc
import Synchronization
import Testing

@testable import UVRunLoop

/// Signals as events of a loop: each test in a process of its own, because what a signal does is
/// the whole process's.
@Suite(.timeLimit(.minutes(15))) struct SignalSourceTests {
    @Test func aSignalEndsTheSleepAndIsServedAsOneSource() async {
        await #expect(processExitsWith: .success) { withAllSignals { serveASignal() } }
    }

    @Test(.disabled(if: isUnderThreadSanitizer, "It delays signals, and merges them."))
    func signalsThatComeBeforeTheCallAreOneCallWithACount() async {
        await #expect(processExitsWith: .success) { withAllSignals { countSignals() } }
    }

    @Test func everySourceInEveryLoopIsTold() async {
        await #expect(processExitsWith: .success) { withAllSignals { tellEverySource() } }
    }

    @Test func aSignalWaitsForTheModeOfItsSource() async {
        await #expect(processExitsWith: .success) { withAllSignals { waitForTheMode() } }
    }

    /// One that is made so would be compared with others when it is given back.
    @Test func whatALoopWatchesIsNonBlockingFromTheBeginning() async {
        await #expect(processExitsWith: .success) {
            withAllSignals {
                let source = try? UVRunLoop.SignalSource(SIGUSR1) { _, _ in }
                precondition(source?.link.descriptor.map { isNonBlocking($0) } == true)
            }
        }
    }

    @Test func signalsThatNoSourceCanWaitForAreRefused() async {
        await #expect(processExitsWith: .success) { withAllSignals { refuseSignals() } }
    }

    @Test func aSourceWakesItsLoopForNothingElse() async {
        await #expect(processExitsWith: .success) { withAllSignals { staySilent() } }
    }

    @Test func aHandlerMayInvalidateItsSourceAndMakeANewOne() async {
        await #expect(processExitsWith: .success) { withAllSignals { replaceInTheHandler() } }
    }

    @Test(.disabled(if: isUnderThreadSanitizer, "It delays signals, and merges them."))
    func aRealTimeSignalIsCountedAsOftenAsItWasSent() async {
        await #expect(processExitsWith: .success) { withAllSignals { countRealTimeSignals() } }
    }

    @Test(.disabled(if: isUnderThreadSanitizer, "It delays signals, and merges them."))
    func aStormOfSignalsLosesNothingAndStarvesNobody() async {
        await #expect(processExitsWith: .success) { withAllSignals { weatherAStorm() } }
    }

    @Test func sourcesThatComeAndGoDuringAStormHarmNobody() async {
        await #expect(processExitsWith: .success) { withAllSignals { comeAndGoInAStorm() } }
    }

    @Test func theErrorNumberOfTheInterruptedCodeIsKept() async {
        await #expect(processExitsWith: .success) { withAllSignals { keepTheErrorNumber() } }
    }
}

private func serveASignal() {
    let (loop, log) = (UVRunLoop.current, EventLog())
    let source = noteSignal(SIGUSR1, log)
    loop.add(source, forMode: .default)
    log.observe(loop, [.beforeWaiting, .afterWaiting])
    elsewhere(after: .milliseconds(5), loop) { kill(getpid(), SIGUSR1) }
    precondition(serveOne(loop) == .handledSource)
    precondition(log.entries == ["beforeWaiting", "afterWaiting", "signal 1"], "\(log.entries)")
    source.invalidate()
    precondition(!source.isValid && loop.run(mode: .default, for: .zero) == .finished)
}

private func countSignals() {
    let (loop, log) = (UVRunLoop.current, EventLog())
    let source = noteSignal(SIGUSR1, log)
    for _ in 0..<3 { raise(SIGUSR1) }
    loop.add(source, forMode: .default)
    for _ in 0..<2 { raise(SIGUSR1) }
    precondition(serveOne(loop) == .handledSource)
    precondition(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
    raise(SIGUSR1)
    precondition(serveOne(loop) == .handledSource)
    precondition(log.entries == ["signal 5", "signal 1"], "\(log.entries)")
}

private func tellEverySource() {
    let others = [LoopOnAThread(), LoopOnAThread()]
    let loops = [UVRunLoop.current] + others.map(\.loop)
    let calls = Atomic<Int>(0)
    var sources: [UVRunLoop.SignalSource] = []
    for loop in loops + loops {
        let source = try? UVRunLoop.SignalSource(
            SIGUSR1,
            sendableHandler: { _, count in
                precondition(count == 1)
                calls.add(1, ordering: .relaxed)
            }
        )
        guard let source else { preconditionFailure("A second source is fine.") }
        sources.append(source)
        loop.add(source, forMode: .default)
    }
    for round in 1...20 {
        kill(getpid(), SIGUSR1)
        while calls.load(ordering: .relaxed) < 6 * round {
            loops[0].run(mode: .default, for: .milliseconds(1))
        }
    }
    precondition(calls.load(ordering: .relaxed) == 120)
    for source in sources { source.invalidate() }
    for other in others {
        other.stop()
        other.join()
    }
}

private func waitForTheMode() {
    let (loop, log) = (UVRunLoop.current, EventLog())
    let other = UVRunLoop.Mode(rawValue: "other")
    loop.add(noteSignal(SIGUSR1, log), forMode: .default)
    loop.add(UVRunLoop.Source { _ in }, forMode: other)
    raise(SIGUSR1)
    precondition(loop.run(mode: other, for: .milliseconds(2)) == .timedOut)
    precondition(log.entries == [])
    precondition(serveOne(loop) == .handledSource)
    precondition(log.entries == ["signal 1"])
}

private func refuseSignals() {
    let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS]
    for signal in [-1, 0, 32, 65, 1_000_000, SIGKILL, SIGSTOP] + faults {
        do throws(RunLoopError) {
            _ = try UVRunLoop.SignalSource(signal) { _, _ in }
            preconditionFailure("Signal \(signal) was taken.")
        } catch {
            precondition(error.code == .signalNotWatchable, "\(signal): \(error)")
        }
    }
    let before = openDescriptorCount()
    _ = try? UVRunLoop.SignalSource(SIGKILL) { _, _ in }
    precondition(openDescriptorCount() == before)
}

private func staySilent() {
    let (loop, log) = (UVRunLoop.current, EventLog())
    let first = noteSignal(SIGUSR1, log)
    raise(SIGUSR1)
    log.observe(loop, [.afterWaiting])
    loop.add(first, forMode: .default)
    precondition(serveOne(loop) == .handledSource)
    log.clear()
    // The signal has come before: to a later source that is nothing.
    loop.add(noteSignal(SIGUSR1, log), forMode: .default)
    loop.add(noteSignal(SIGUSR2, log), forMode: .default)
    precondition(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
    precondition(log.entries == ["afterWaiting"], "\(log.entries)")
}

private func replaceInTheHandler() {
    let (loop, log) = (UVRunLoop.current, EventLog())
    let source = try? UVRunLoop.SignalSource(SIGUSR1) { source, count in
        log.note("old \(count)")
        source.invalidate()
        loop.add(noteSignal(SIGUSR1, log, as: "new"), forMode: .default)
    }
    guard let source else { preconditionFailure("The signal can be waited for.") }
    loop.add(source, forMode: .default)
    for _ in 0..<2 {
        raise(SIGUSR1)
        precondition(serveOne(loop) == .handledSource)
    }
    precondition(log.entries == ["old 1", "new 1"], "\(log.entries)")
}

private func countRealTimeSignals() {
    let loop = UVRunLoop.current
    let (sent, total) = (5_000, Box(0))
    let source = try? UVRunLoop.SignalSource(40) { _, count in total.value += count }
    guard let source else { preconditionFailure("The signal can be waited for.") }
    loop.add(source, forMode: .default)
    let sender = startThread {
        for _ in 0..<sent {
            // The kernel keeps a limited number.
            while kill(getpid(), 40) != 0 { usleep(50) }
        }
    }
    while total.value < sent { precondition(serveOne(loop) == .handledSource) }
    sender.join()
    precondition(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
    precondition(total.value == sent, "\(total.value)")
}

private func weatherAStorm() {
    let loop = UVRunLoop.current
    let sent = 200_000
    let (total, fires, reads) = (Box(0), Box(0), Box(0))
    let source = try? UVRunLoop.SignalSource(SIGUSR1) { _, count in total.value += count }
    let pipe = Pipe()
    pipe.write("x")
    let reader = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        reads.value += 1
    }
    guard let source, let reader else { preconditionFailure("Both can be watched.") }
    let timer = UVRunLoop.Timer(after: .zero, interval: .microseconds(100)) { _ in
        fires.value += 1
    }
    loop.add(source, forMode: .default)
    loop.add(reader, forMode: .default)
    loop.add(timer, forMode: .default)
    let isOver = Signal()
    let over = Atomic<Bool>(false)
    let haveAllComeUp = Signal()
    let sender = startThread {
        // Handlers run on this thread: none is merged with another. The storm does not end before
        // the others have come up: on a busy machine all of it may be served at once.
        for number in 1...sent {
            if number == sent { haveAllComeUp.wait() }
            raise(SIGUSR1)
        }
        over.store(true, ordering: .releasing)
        isOver.send()
    }
    while !over.load(ordering: .acquiring) || total.value < sent {
        loop.run(mode: .default, for: .milliseconds(5))
        if fires.value > 0, reads.value > 0 { haveAllComeUp.send() }
    }
    isOver.wait()
    sender.join()
    precondition(total.value == sent, "\(total.value)")
    precondition(fires.value > 0 && reads.value > 0, "\(fires.value) \(reads.value)")
}

private func comeAndGoInAStorm() {
    signal(SIGUSR1, SIG_IGN)
    let over = Atomic<Bool>(false)
    let sender = startThread {
        while !over.load(ordering: .relaxed) { kill(getpid(), SIGUSR1) }
    }
    let (loop, log) = (UVRunLoop.current, EventLog())
    let before = openDescriptorCount()
    for _ in 0..<500 {
        let source = noteSignal(SIGUSR1, log)
        loop.add(source, forMode: .default)
        precondition(serveOne(loop) == .handledSource)
        source.invalidate()
        // The numbers of the source's descriptors are this pipe's now.
        let pipe = Pipe()
        usleep(10)
        precondition(drain(pipe.readEnd) == -1)
    }
    over.store(true, ordering: .relaxed)
    sender.join()
    precondition(openDescriptorCount() == before)
}

private func keepTheErrorNumber() {
    let source = noteSignal(SIGUSR1, EventLog())
    errno = 4711
    raise(SIGUSR1)
    precondition(errno == 4711)
    source.invalidate()
}
