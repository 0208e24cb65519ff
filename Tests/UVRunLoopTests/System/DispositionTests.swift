import CUVSupport
import Glibc
import Testing

@testable import UVRunLoop

/// The effect of signals before there were sources for them, and again afterwards.
@Suite(.timeLimit(.minutes(15))) struct DispositionTests {
    @Test(.disabled(if: isUnderThreadSanitizer, "It delays signals, and merges them."))
    func aHandlerIsPutBackWithItsFlagsAndMask() async {
        await #expect(processExitsWith: .success) { withAllSignals { putAHandlerBack() } }
    }

    @Test func anIgnoredSignalComesAndIsIgnoredAfterwards() async {
        await #expect(processExitsWith: .success) { withAllSignals { putIgnoranceBack() } }
    }

    @Test func aSignalThatEndsTheProcessEndsItOnlyWithoutSources() async {
        await #expect(processExitsWith: .success) { withAllSignals { putTheDefaultBack() } }
    }

    @Test func theLastSourceOfASignalPutsBackWhatTheSignalDid() async {
        await #expect(processExitsWith: .success) { withAllSignals { shareASignal() } }
    }

    @Test func aHandlerThatSomebodyInstalledMeanwhileStays() async {
        await #expect(processExitsWith: .success) { withAllSignals { leaveTheNewHandler() } }
    }

    @Test func aPendingSignalIsLeftToTheHandlerThatSomebodyInstalledMeanwhile() async {
        await #expect(processExitsWith: .success) { withAllSignals { leaveThePendingSignal() } }
    }

    @Test func aSourceThatIsDroppedGivesItsSignalBack() async {
        await #expect(processExitsWith: .success) { withAllSignals { dropASource() } }
    }

    @Test func theEndOfItsLoopsThreadInvalidatesASource() async {
        await #expect(processExitsWith: .success) { withAllSignals { endTheThread() } }
    }

    @Test func aSignalThatEveryThreadBlocksComesAndStaysBlocked() async {
        await #expect(processExitsWith: .success) { withAllSignals { blockEverywhere() } }
    }

    @Test func aBlockedSignalIsToldToEveryLoop() async {
        await #expect(processExitsWith: .success) { withAllSignals { tellAllOfABlockedSignal() } }
    }

    @Test func aForkedChildsSignalsAreItsOwn() async {
        await #expect(processExitsWith: .success) { withAllSignals { forkAndSignalTheChild() } }
    }

    @Test func aForkedChildMayHaveSourcesOfItsOwn() async {
        await #expect(processExitsWith: .success) { withAllSignals { useSignalsInTheChild() } }
    }

    @Test func otherSignalsDoNotWaitWhileAChildIsStarted() async {
        await #expect(processExitsWith: .success) { withAllSignals { holdUpTheSignalOfChildren() } }
    }

    @Test func childrenThatNobodyWaitsForAreStillForgottenBeforeTheyAreZombies() async {
        await #expect(processExitsWith: .success) { withAllSignals { forgetChildren() } }
    }
}

private func disposition(of signal: CInt) -> sigaction {
    var action = sigaction()
    precondition(sigaction(signal, nil, &action) == 0)
    return action
}

private func isDefault(_ signal: CInt) -> Bool {
    disposition(of: signal).__sigaction_handler.sa_handler == nil
}

private func isIgnored(_ signal: CInt) -> Bool {
    unsafeBitCast(disposition(of: signal).__sigaction_handler.sa_handler, to: Int.self) == 1
}

nonisolated(unsafe) private var handlerCalls = 0

private func putAHandlerBack() {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in handlerCalls += 1 }
    action.sa_flags = SA_NODEFER | CInt(SA_RESTART)
    sigemptyset(&action.sa_mask)
    sigaddset(&action.sa_mask, SIGHUP)
    precondition(sigaction(SIGUSR1, &action, nil) == 0)

    let (loop, log) = (UVRunLoop.current, EventLog())
    let source = noteSignal(SIGUSR1, log)
    loop.add(source, forMode: .default)
    raise(SIGUSR1)
    precondition(serveOne(loop) == .handledSource)
    precondition(handlerCalls == 0)
    source.invalidate()
    raise(SIGUSR1)
    precondition(handlerCalls == 1)
    var found = disposition(of: SIGUSR1)
    precondition(found.sa_flags & (SA_NODEFER | CInt(SA_RESTART)) == action.sa_flags)
    precondition(sigismember(&found.sa_mask, SIGHUP) == 1)
    precondition(sigismember(&found.sa_mask, SIGINT) == 0)
    precondition(log.entries == ["signal 1"])
}

private func putIgnoranceBack() {
    signal(SIGUSR1, SIG_IGN)
    let (loop, log) = (UVRunLoop.current, EventLog())
    let source = noteSignal(SIGUSR1, log)
    loop.add(source, forMode: .default)
    raise(SIGUSR1)
    precondition(serveOne(loop) == .handledSource)
    source.invalidate()
    precondition(isIgnored(SIGUSR1))
    raise(SIGUSR1)
}

private func putTheDefaultBack() {
    let status = inChild {
        let source = noteSignal(SIGTERM, EventLog())
        raise(SIGTERM)
        source.invalidate()
        raise(SIGTERM)
        return 0
    }
    precondition(status == -SIGTERM)
}

private func shareASignal() {
    let log = EventLog()
    let sources = (0..<3).map { _ in noteSignal(SIGUSR1, log) }
    for source in sources {
        precondition(!isDefault(SIGUSR1))
        source.invalidate()
        source.invalidate()
    }
    precondition(isDefault(SIGUSR1))
    let later = noteSignal(SIGUSR1, log)
    precondition(!isDefault(SIGUSR1))
    later.invalidate()
    precondition(isDefault(SIGUSR1))
}

/// Dispatch's handler, for one, blocks its signal and raises it again, to read it itself.
private func leaveThePendingSignal() {
    block(SIGUSR1)
    let (loop, log) = (UVRunLoop.current, EventLog())
    let source = noteSignal(SIGUSR1, log)
    loop.add(source, forMode: .default)
    signal(SIGUSR1) { _ in }
    kill(getpid(), SIGUSR1)
    log.observe(loop, .beforeTimers)
    // It would never sleep if the pending signal kept the source ready.
    precondition(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
    precondition(log.count <= 3, "\(log.entries)")
    precondition(!log.entries.contains("signal 1"), "\(log.entries)")
    var pending = sigset_t()
    sigpending(&pending)
    precondition(sigismember(&pending, SIGUSR1) == 1)
    source.invalidate()
}

private func leaveTheNewHandler() {
    let source = noteSignal(SIGUSR1, EventLog())
    signal(SIGUSR1, SIG_IGN)
    source.invalidate()
    precondition(isIgnored(SIGUSR1))
}

private func dropASource() {
    let before = openDescriptorCount()
    do {
        let source = noteSignal(SIGUSR1, EventLog())
        precondition(source.isValid && !isDefault(SIGUSR1))
    }
    precondition(isDefault(SIGUSR1))
    precondition(openDescriptorCount() == before)
}

private func endTheThread() {
    let place = Guarded<UVRunLoop.SignalSource?>(nil)
    onAnotherThread {
        let loop = UVRunLoop.current
        let source = try? UVRunLoop.SignalSource(SIGUSR1) { _, _ in }
        guard let source else { preconditionFailure("The signal can be waited for.") }
        loop.add(source, forMode: .default)
        loop.run(mode: .default, for: .zero)
        place.withLock { $0 = source }
    }
    precondition(place.withLock { $0?.isValid } == false)
    precondition(isDefault(SIGUSR1))
}

private func block(_ signal: CInt) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    pthread_sigmask(SIG_BLOCK, &set, nil)
}

private func isBlocked(_ signal: CInt) -> Bool {
    var set = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &set)
    return sigismember(&set, signal) == 1
}

private func blockEverywhere() {
    block(SIGUSR1)
    let (loop, log) = (UVRunLoop.current, EventLog())
    let source = noteSignal(SIGUSR1, log)
    loop.add(source, forMode: .default)
    // To the process, to this thread, and while the loop sleeps.
    kill(getpid(), SIGUSR1)
    precondition(serveOne(loop) == .handledSource)
    raise(SIGUSR1)
    precondition(serveOne(loop) == .handledSource)
    elsewhere(after: .milliseconds(2), loop) { kill(getpid(), SIGUSR1) }
    precondition(serveOne(loop) == .handledSource)
    source.invalidate()
    precondition(isBlocked(SIGUSR1) && isDefault(SIGUSR1))
    precondition(log.entries == ["signal 1", "signal 1", "signal 1"], "\(log.entries)")
}

private func tellAllOfABlockedSignal() {
    block(SIGUSR1)
    let log = EventLog()
    let loop = UVRunLoop.current
    let other = LoopOnAThread()
    let sources = [noteSignal(SIGUSR1, log, as: "A"), noteSignal(SIGUSR1, log, as: "B")]
    loop.add(sources[0], forMode: .default)
    other.loop.add(sources[1], forMode: .default)
    kill(getpid(), SIGUSR1)
    while log.entries.count < 2 { loop.run(mode: .default, for: .milliseconds(1)) }
    precondition(Set(log.entries) == ["A 1", "B 1"])
    other.stop()
    other.join()
}

private func forkAndSignalTheChild() {
    signal(SIGUSR2, SIG_IGN)
    let (loop, log) = (UVRunLoop.current, EventLog())
    for number in [SIGTERM, SIGUSR2] { loop.add(noteSignal(number, log), forMode: .default) }
    precondition(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
    let status = inChild {
        guard isDefault(SIGTERM), isIgnored(SIGUSR2) else { return 2 }
        raise(SIGUSR2)
        raise(SIGTERM)
        return 3
    }
    precondition(status == -SIGTERM, "The signal did what it does by default.")
    log.observe(loop, .afterWaiting)
    precondition(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
    precondition(log.entries == ["afterWaiting"], "\(log.entries)")
    log.clear()
    raise(SIGTERM)
    precondition(serveOne(loop) == .handledSource)
    precondition(log.entries.last == "signal 1")
}

private func useSignalsInTheChild() {
    let (loop, log) = (UVRunLoop.current, EventLog())
    let inherited = noteSignal(SIGUSR1, log)
    loop.add(inherited, forMode: .default)
    let status = inChild {
        let fresh = UVRunLoop.current
        let source = noteSignal(SIGUSR1, log, as: "child's")
        fresh.add(source, forMode: .default)
        kill(getpid(), SIGUSR1)
        guard serveOne(fresh) == .handledSource, log.entries == ["child's 1"] else { return 2 }
        source.invalidate()
        return isDefault(SIGUSR1) ? 0 : 3
    }
    precondition(status == 0)
    precondition(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
    precondition(log.entries == [])
}

private func forgetChildren() {
    signal(SIGCHLD, SIG_IGN)
    let (loop, log) = (UVRunLoop.current, EventLog())
    let source = noteSignal(SIGCHLD, log)
    loop.add(source, forMode: .default)
    let child = startChild { 0 }
    precondition(serveOne(loop) == .handledSource)
    precondition(waitpid(child, nil, 0) == -1 && errno == ECHILD)
    source.invalidate()
    precondition(isIgnored(SIGCHLD))
}

/// What starts a child holds the lock of `SIGCHLD` for as long as that takes.
private func holdUpTheSignalOfChildren() {
    let log = EventLog()
    let number = SharedBox<pid_t?>(nil)
    cuv_child_signal_lock()
    let other = startThread {
        number.value = cuv_thread_id()
        noteSignal(SIGCHLD, log).invalidate()
    }
    while number.value.map({ isWaiting($0) }) != true { usleep(1000) }
    // It would wait for ever if the other thread held what it needs.
    noteSignal(SIGUSR1, log).invalidate()
    cuv_child_signal_unlock()
    other.join()
    precondition(isDefault(SIGCHLD) && isDefault(SIGUSR1))
}

/// Whether a thread of this process sleeps in the kernel until something happens.
private func isWaiting(_ thread: pid_t) -> Bool {
    let path = "/proc/self/task/\(thread)/stat"
    guard let file = fopen(path, "r") else { return false }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 256)
    guard fgets(&text, CInt(text.count), file) != nil else { return false }
    let line = String(decoding: text.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return line.contains(") S ")
}
