import CUV
import CUVSupport
import Glibc
import Testing

@testable import UVRunLoop

/// Descriptors that their owner closes before the source is invalidated, which is a mistake.
@Suite(.timeLimit(.minutes(15))) struct EarlyCloseTests {
    /// The number is another file's by then, and that file's flag its owner's.
    @Test func theFileThatHasTheNumberNowKeepsItsFlag() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { closeAndOpenAPipe() }
        }
    }

    /// The loop's own timerfd has the number by then, when the kernel refuses the source.
    @Test func aSourceThatWasNeverPolledLeavesTheLoopItsDates() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { closeBeforeThePoll() }
        }
    }

    /// A handler may read until there is no more, so that source must not be served by a blocking
    /// one.
    @Test(arguments: [false, true], [false, true])
    func anotherSourceForTheNumberIsServedNonBlocking(
        isEvent: Bool,
        onAnotherLoop: Bool
    ) async {
        await #expect(processExitsWith: .success) { [isEvent, onAnotherLoop] in
            inQuietProcess {
                for isBlocking in [true, false] {
                    closeAndServeAgain(isEvent: isEvent, isBlocking: isBlocking) { body in
                        if onAnotherLoop { onAnotherThread(body) } else { body() }
                    }
                }
            }
        }
    }

    /// Event descriptors cannot be told apart by their numbers on a device: all have the same.
    @Test func anEventDescriptorThatHasTheNumberNowKeepsItsFlag() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { closeAndOpenEventDescriptors() }
        }
    }

    /// The kernel would report it for ever, and libuv spin.
    @Test func aClosedDescriptorOfWhichADuplicateIsOpenEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            inQuietProcess { leaveAGhost() }
        }
    }

    /// A run that cannot serve the source finds it ready, and would for ever.
    @Test func aClosedDescriptorThatAnotherModeFindsReadyEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            inQuietProcess { leaveAGhostToAnotherMode() }
        }
    }

    /// As while another thread starts a process.
    @Test func aDuplicateThatIsClosedSoonIsWaitedFor() async {
        await #expect(processExitsWith: .success) {
            // On a busy machine the other thread may come too late, now and then.
            let isWaitedFor = (0..<20).contains { _ in
                inChild {
                    leaveAGhostForAWhile()
                    return EXIT_SUCCESS
                } == EXIT_SUCCESS
            }
            exitUnless(isWaitedFor)
        }
    }

    /// The kernel goes on reporting it, but there is nobody left to whom.
    @Test func aLoopThatEndsIsNotInTheWayOfADuplicate() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { leaveAGhostToTheEndOfALoop() }
        }
    }

    /// Whichever call returns first: its caller may close the descriptor.
    @Test(arguments: 0...2)
    func everyThreadThatTakesASourceOutMayCloseItsDescriptor(removers: Int) async {
        await #expect(processExitsWith: .success) { [removers] in
            inQuietProcess {
                for _ in 0..<500 { takeOutByTwoThreads(removers: removers) }
            }
        }
    }

    /// A run has decided to ask for fewer events when another thread takes the source out.
    @Test func aDescriptorThatWasReleasedIsNotWatchedAgain() throws {
        let driver = try UVDriver(wakeState: WakeState())
        defer { driver.close() }
        let pipe = Pipe()
        var change = WatchChange(descriptor: pipe.readEnd, registration: 1, events: .readable)
        driver.watch([change]) { _ in
            true
        } refused: { _, error in
            Issue.record(error)
        }
        let epoll = uv_backend_fd(driver.lend())
        #expect(cuv_epoll_members(epoll, pipe.readEnd) == 1)
        driver.remote.release(pipe.readEnd) { false }
        change.events = []
        #expect(driver.rearm(change))
        #expect(cuv_epoll_members(epoll, pipe.readEnd) == 0)
    }

    @Test func aClosedDescriptorWithoutADuplicateIsForgotten() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let ends = openPipe()
                let source = serve(ends.read)
                close(ends.read)
                source.invalidate()
                exitUnless(UVRunLoop.current.run(mode: .default, for: .zero) == .finished)
            }
        }
    }
}

private func exitUnless(_ condition: Bool) {
    if !condition { _exit(EXIT_FAILURE) }
}

private func openPipe() -> (read: CInt, write: CInt) {
    var ends: [CInt] = [-1, -1]
    exitUnless(pipe(&ends) == 0)
    return (ends[0], ends[1])
}

/// A source for a descriptor that the kernel watches.
private func serve(_ descriptor: CInt) -> UVRunLoop.DescriptorSource {
    guard
        let source = try? UVRunLoop.DescriptorSource(
            descriptor,
            events: .readable,
            handler: { _, _ in }
        )
    else { _exit(EXIT_FAILURE) }
    UVRunLoop.current.add(source, forMode: .default)
    UVRunLoop.current.run(mode: .default, for: .zero)
    return source
}

/// Has two threads take a source out at once, and the first that has done it close the descriptor.
private func takeOutByTwoThreads(removers: Int) {
    let ends = openPipe()
    let duplicate = dup(ends.read)
    let source = serve(ends.read)
    let loop = UVRunLoop.current
    let arrived = Counter()
    let returned = Counter()
    let threads = (0..<2).map { number in
        startThread {
            arrived.add()
            while arrived.value < 2 { sched_yield() }
            if number < removers {
                loop.remove(source, forMode: .default)
            } else {
                source.invalidate()
            }
            if returned.add() == 1 { close(ends.read) }
        }
    }
    threads.forEach { $0.join() }
    source.invalidate()
    close(duplicate)
    close(ends.write)
}

private func closeBeforeThePoll() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let (pipe, log, other) = (Pipe(), EventLog(), UVRunLoop.Mode("early close, other"))
        for mode in [.default, other] { addFarTimer(to: loop, in: mode) }
        let source = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, events in
            log.note("\(events)")
        }
        guard let source else { preconditionFailure("A pipe can be watched.") }
        loop.add(source, forMode: other)
        pipe.closeReadEnd()
        // The first date that opens the timerfd.
        precondition(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
        precondition(loop.run(mode: other, for: .zero) == .timedOut)
        precondition(log.entries == ["hangUp"] && !source.isValid, "\(log.entries)")
        for _ in 0..<3 {
            precondition(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
        }
    }
}

private func closeAndOpenAPipe() {
    let ends = openPipe()
    let source = serve(ends.read)
    exitUnless(isNonBlocking(ends.read))
    close(ends.read)
    let others = openPipe()
    exitUnless(others.read == ends.read)
    _ = fcntl(others.read, F_SETFL, fcntl(others.read, F_GETFL) | O_NONBLOCK)
    source.invalidate()
    exitUnless(isNonBlocking(others.read))
}

/// Serves another file that has the number, while the first source is still valid.
private func closeAndServeAgain(
    isEvent: Bool,
    isBlocking: Bool,
    on thread: (@escaping @Sendable () -> Void) -> Void
) {
    func open() -> CInt { isEvent ? cuv_event_create() : openPipe().read }
    func set(_ descriptor: CInt, isBlocking: Bool) {
        let flags = fcntl(descriptor, F_GETFL) & ~O_NONBLOCK
        _ = fcntl(descriptor, F_SETFL, isBlocking ? flags : flags | O_NONBLOCK)
    }
    let first = open()
    set(first, isBlocking: true)
    let source = serve(first)
    close(first)
    let second = open()
    exitUnless(second == first)
    set(second, isBlocking: isBlocking)
    thread {
        let another = serve(second)
        exitUnless(isNonBlocking(second))
        another.invalidate()
    }
    source.invalidate()
    exitUnless(isNonBlocking(second) != isBlocking)
}

private func closeAndOpenEventDescriptors() {
    let first = cuv_event_create()
    _ = fcntl(first, F_SETFL, fcntl(first, F_GETFL) & ~O_NONBLOCK)
    let source = serve(first)
    exitUnless(isNonBlocking(first))
    close(first)
    let second = cuv_event_create()
    exitUnless(second == first)
    _ = fcntl(second, F_SETFL, fcntl(second, F_GETFL) | O_NONBLOCK)
    source.invalidate()
    exitUnless(isNonBlocking(second))
}

private func leaveAGhostForAWhile() {
    let ends = openPipe()
    let duplicate = dup(ends.read)
    let source = serve(ends.read)
    close(ends.read)
    let thread = startThread {
        usleep(3_000)
        close(duplicate)
    }
    source.invalidate()
    thread.join()
    exitUnless(UVRunLoop.current.run(mode: .default, for: .zero) == .finished)
}

private func leaveAGhostToTheEndOfALoop() {
    let ends = openPipe()
    let duplicate = dup(ends.read)
    let thread = startThread {
        _ = serve(ends.read)
        exitUnless(write(ends.write, "x", 1) == 1)
        close(ends.read)
    }
    thread.join()
    var byte: UInt8 = 0
    exitUnless(unsafe read(duplicate, &byte, 1) == 1)
}

private func leaveAGhostToAnotherMode() {
    let loop = UVRunLoop.current
    let other = UVRunLoop.Mode("early close, other")
    loop.add(UVRunLoop.Source { _ in }, forMode: other)
    let ends = openPipe()
    let duplicate = dup(ends.read)
    let source = serve(ends.read)
    close(ends.read)
    exitUnless(write(ends.write, "x", 1) == 1)
    loop.run(mode: other, for: .milliseconds(5))
    source.invalidate()
    close(duplicate)
}

private func leaveAGhost() {
    let ends = openPipe()
    let duplicate = dup(ends.read)
    let source = serve(ends.read)
    close(ends.read)
    source.invalidate()
    close(duplicate)
}
