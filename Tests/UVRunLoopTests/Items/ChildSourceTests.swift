import Glibc
import Testing

@testable import UVRunLoop

/// The ends of child processes as events of a loop.
@Suite(.timeLimit(.minutes(15))) struct ChildSourceTests {
    @Test func theCodeOfAChildIsToldOnce() async {
        await #expect(processExitsWith: .success) { withAllSignals { tellTheCode() } }
    }

    @Test func theSignalThatEndedAChildIsTold() async {
        await #expect(processExitsWith: .success) { withAllSignals { tellTheSignal() } }
    }

    @Test func aChildThatHasEndedBeforeIsTold() async {
        await #expect(processExitsWith: .success) { withAllSignals { tellOfAZombie() } }
    }

    @Test func statusesOfOtherChildrenStayWithThem() async {
        await #expect(processExitsWith: .success) { withAllSignals { leaveOtherChildren() } }
    }

    @Test func aStatusThatSomebodyElseTookIsUnknown() async {
        await #expect(processExitsWith: .success) { withAllSignals { loseTheStatus() } }
    }

    @Test func aStatusThatTheSystemForgetsIsUnknown() async {
        await #expect(processExitsWith: .success) { withAllSignals { ignoreChildren() } }
    }

    @Test func aSourceThatIsInvalidatedLeavesTheStatusToItsOwner() async {
        await #expect(processExitsWith: .success) { withAllSignals { leaveTheStatus() } }
    }

    @Test func aProcessThatIsNoChildIsRefused() async {
        await #expect(processExitsWith: .success) { withAllSignals { refuseProcesses() } }
    }

    @Test func theStatusOfAChildThatTheKernelDoesNotWatchIsUnknown() async {
        await #expect(processExitsWith: .success) { withAllSignals { refuseToWatch() } }
    }

    /// Not in a forked process, which has no threads for tasks.
    @Test func aTaskThatAwaitsSuchAChildIsTold() async {
        await #expect(processExitsWith: .success) { refuseToWatchForTask() }
    }

    @Test func manyChildrenAreToldEachToItsSource() async {
        await #expect(processExitsWith: .success) { withAllSignals { awaitManyChildren() } }
    }

    @Test func theEndOfItsLoopsThreadLeavesTheChildAlone() async {
        await #expect(processExitsWith: .success) { withAllSignals { endTheThread() } }
    }

    @Test func aSourceThatAnotherThreadMakesAndAddsTellsTheLoopsThread() async {
        await #expect(processExitsWith: .success) { withAllSignals { watchFromElsewhere() } }
    }

    @Test func aSourceThatAnotherThreadInvalidatesTellsNothing() async {
        await #expect(processExitsWith: .success) { withAllSignals { invalidateElsewhere() } }
    }

    @Test func aSourcePrintsItsLabelAndItsChild() async {
        await #expect(processExitsWith: .success) { withAllSignals { printASource() } }
    }
}

typealias ExitStatus = UVRunLoop.ChildSource.ExitStatus

/// Starts a child that ends with a code, at once or when it is sent a signal.
private func startChild(_ code: CInt = 0, waits: Bool = false) -> pid_t {
    startChild {
        while waits { pause() }
        return code
    }
}

private func refuseToWatch() {
    withLoop { loop in
        let child = startChild(waits: true)
        let log = EventLog()
        let source = try? UVRunLoop.ChildSource(child) { source, status in
            log.note("\(status), \(source.isValid)")
        }
        guard let source else { preconditionFailure("There is the child.") }
        loop.add(source, forMode: .default)
        refuseWatching(source.link.descriptor)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        precondition(log.entries == ["unknown, false"], "\(log.entries)")
        kill(child, SIGKILL)
        precondition(awaitEnd(of: child) == -SIGKILL)
    }
}

private func refuseToWatchForTask() {
    withLoop { loop in
        let child = startChild(waits: true)
        let log = EventLog()
        let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in }
        loop.add(timer, forMode: .default)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        refuseWatching()
        Task {
            do {
                _ = try await loop.exitStatus(of: child)
            } catch let error as UVRunLoop.RunLoopError {
                log.note("\(error.code), \(error.underlying == UVError(rawValue: -ENOSPC))")
            }
            loop.perform { loop.stop() }
        }
        loop.add(UVRunLoop.Source { _ in }, forMode: .default)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        precondition(log.entries == ["the system refused, true"], "\(log.entries)")
        kill(child, SIGKILL)
        precondition(awaitEnd(of: child) == -SIGKILL)
    }
}

private func watch(
    _ child: pid_t,
    _ loop: UVRunLoop,
    _ handler: @escaping (UVRunLoop.ChildSource, ExitStatus) -> Void
) -> UVRunLoop.ChildSource {
    guard let source = try? UVRunLoop.ChildSource(child, handler: handler) else {
        preconditionFailure("The child can be waited for.")
    }
    loop.add(source, forMode: .default)
    return source
}

/// How a child ended, by a source.
private func status(of child: pid_t, _ loop: UVRunLoop) -> ExitStatus? {
    let found = Box<ExitStatus?>(nil)
    let source = watch(child, loop) { source, status in
        precondition(source.isValid && source.process == child && found.value == nil)
        found.value = status
    }
    precondition(serveOne(loop) == .handledSource)
    precondition(!source.isValid)
    precondition(loop.run(mode: .default, for: .zero) == .finished)
    return found.value
}

private func tellTheCode() {
    let loop = UVRunLoop.current
    let before = openDescriptorCount()
    for code: CInt in [0, 1, 255] {
        let child = startChild(code)
        precondition(status(of: child, loop) == .exited(code: code))
        precondition(waitpid(child, nil, 0) == -1 && errno == ECHILD)
    }
    precondition(openDescriptorCount() == before)
}

private func tellTheSignal() {
    let loop = UVRunLoop.current
    let child = startChild(waits: true)
    elsewhere(after: .milliseconds(3), loop) { kill(child, SIGKILL) }
    precondition(status(of: child, loop) == .signaled(signal: SIGKILL, coreDumped: false))
}

private func tellOfAZombie() {
    let loop = UVRunLoop.current
    let child = startChild(7)
    awaitZombie(child)
    precondition(status(of: child, loop) == .exited(code: 7))
}

private func leaveOtherChildren() {
    let loop = UVRunLoop.current
    let (first, second) = (startChild(1), startChild(2))
    precondition(status(of: second, loop) == .exited(code: 2))
    precondition(awaitEnd(of: first) == 1)
    var action = sigaction()
    sigaction(SIGCHLD, nil, &action)
    precondition(action.__sigaction_handler.sa_handler == nil, "SIGCHLD is left alone.")
}

private func loseTheStatus() {
    let loop = UVRunLoop.current
    let child = startChild(waits: true)
    let found = Box<ExitStatus?>(nil)
    let source = watch(child, loop) { _, status in found.value = status }
    kill(child, SIGKILL)
    precondition(awaitEnd(of: child) == -SIGKILL)
    precondition(serveOne(loop) == .handledSource)
    precondition(found.value == .unknown && !source.isValid)
}

private func ignoreChildren() {
    signal(SIGCHLD, SIG_IGN)
    let loop = UVRunLoop.current
    let child = startChild(waits: true)
    elsewhere(after: .milliseconds(2), loop) { kill(child, SIGKILL) }
    precondition(status(of: child, loop) == .unknown)
}

private func leaveTheStatus() {
    let loop = UVRunLoop.current
    let child = startChild(3)
    let before = openDescriptorCount()
    let source = watch(child, loop) { _, _ in preconditionFailure("It was invalidated.") }
    source.invalidate()
    do {
        let dropped = try? UVRunLoop.ChildSource(child) { _, _ in }
        precondition(dropped?.isValid == true)
    }
    precondition(openDescriptorCount() == before)
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
    precondition(awaitEnd(of: child) == 3)
}

private func refuseProcesses() {
    let gone = startChild()
    _ = awaitEnd(of: gone)
    for process in [-1, 0, gone, getppid(), getpid(), 1, .max] {
        do throws(RunLoopError) {
            _ = try UVRunLoop.ChildSource(process) { _, _ in }
            preconditionFailure("Process \(process) was taken.")
        } catch {
            precondition(error.code == .noSuchChild, "\(process): \(error)")
        }
    }
}

private func awaitManyChildren() {
    let loop = UVRunLoop.current
    let found = Box<[pid_t: ExitStatus]>([:])
    var wanted: [pid_t: ExitStatus] = [:]
    for number: CInt in 0..<60 {
        let child = startChild(number, waits: number % 2 == 0)
        let isKilled = number % 2 == 0
        wanted[child] =
            isKilled ? .signaled(signal: SIGKILL, coreDumped: false) : .exited(code: number)
        _ = watch(child, loop) { source, status in
            precondition(found.value[source.process] == nil)
            found.value[source.process] = status
        }
        if isKilled { kill(child, SIGKILL) }
    }
    // One-shot sources are gone after their calls, and the mode is empty in the end.
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
    precondition(found.value == wanted)
}

private func endTheThread() {
    let child = startChild(4)
    let place = Guarded<UVRunLoop.ChildSource?>(nil)
    onAnotherThread {
        let source = watch(child, .current) { _, _ in }
        place.withLock { $0 = source }
    }
    precondition(place.withLock { $0?.isValid } == false)
    precondition(awaitEnd(of: child) == 4)
}

private func watchFromElsewhere() {
    let loop = UVRunLoop.current
    let log = EventLog()
    let child = startChild(6, waits: true)
    let keeper = UVRunLoop.Source { _ in }
    loop.add(keeper, forMode: .default)
    let thread = startThread {
        awaitSleep(of: loop)
        let source = try? UVRunLoop.ChildSource(
            child,
            order: 3,
            sendableHandler: { source, status in
                log.note("\(status) \(source.process == child) \(loop.isOnOwnThread)")
                loop.stop()
            }
        )
        guard let source else { preconditionFailure("The child can be waited for.") }
        precondition(source.link.order == 3)
        kill(child, SIGTERM)
        loop.add(source, forMode: .default)
    }
    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
    thread.join()
    let status = ExitStatus.signaled(signal: SIGTERM, coreDumped: false)
    precondition(log.entries == ["\(status) true true"], "\(log.entries)")
    precondition(waitpid(child, nil, 0) == -1 && errno == ECHILD)
    keeper.invalidate()
    precondition(loop.run(mode: .default, for: .zero) == .finished)
}

private func invalidateElsewhere() {
    let loop = UVRunLoop.current
    let child = startChild(5)
    onAnotherThread {
        let source = try? UVRunLoop.ChildSource(
            child,
            sendableHandler: { _, _ in preconditionFailure("It was invalidated.") }
        )
        guard let source else { preconditionFailure("The child can be waited for.") }
        loop.add(source, forMode: .default)
        source.invalidate()
        precondition(!source.isValid)
    }
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
    precondition(awaitEnd(of: child) == 5)
}

private func printASource() {
    let loop = UVRunLoop.current
    let child = startChild(waits: true)
    let source = watch(child, loop) { _, _ in }
    source.label = "compiler"
    let (line, lines) = ("\(source)", loop.debugDescription)
    source.invalidate()
    let lastLine = "\(source)"
    kill(child, SIGKILL)
    precondition(awaitEnd(of: child) == -SIGKILL)
    precondition(line.hasPrefix("ChildSource \"compiler\": "), line)
    precondition(line.hasSuffix(", process \(child)"), line)
    precondition(lines.contains(", process \(child)"), lines)
    precondition(lastLine.hasPrefix("ChildSource \"compiler\": invalid"), lastLine)
}
