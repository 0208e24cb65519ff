import Glibc
import Testing

@testable import UVRunLoop

/// Descriptors 0, 1 and 2, which the program that starts the process chooses: each test in a
/// process of its own.
@Suite(.timeLimit(.minutes(15))) struct StandardDescriptorTests {
    // MARK: Their mode

    @Test func aStandardDescriptorStaysBlockingWhileLoopsWatchIt() async {
        await #expect(processExitsWith: .success) { inQuietProcess { watchInTwoLoops() } }
    }

    @Test func aStandardDescriptorThatIsNonBlockingStaysSo() async {
        await #expect(processExitsWith: .success) { inQuietProcess { watchNonBlocking() } }
    }

    @Test func aDuplicateOfAStandardDescriptorChangesAndRestoresTheMode() async {
        await #expect(processExitsWith: .success) { inQuietProcess { watchADuplicate() } }
    }

    // MARK: Files

    @Test func aFileIsReadyUntilItWasReadAndThenHangsUpOnce() async {
        await #expect(processExitsWith: .success) { inQuietProcess { readAFile() } }
    }

    @Test func theNullDeviceAndAnEmptyFileHangUpAtOnce() async {
        await #expect(processExitsWith: .success) { inQuietProcess { readNothing() } }
    }

    @Test func sourcesThatShareAFileGetTheirOwnEvents() async {
        await #expect(processExitsWith: .success) { inQuietProcess { shareAFile() } }
    }

    @Test func aFileThatIsWrittenDoesNotHangUp() async {
        await #expect(processExitsWith: .success) { inQuietProcess { writeAFile() } }
    }

    @Test func aFileWithoutAnEndStarvesNobody() async {
        await #expect(processExitsWith: .success) { inQuietProcess { readWithoutEnd() } }
    }

    @Test func aSourceOnAFileLeavesNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) { inQuietProcess { countDescriptors() } }
    }

    // MARK: Closed ones

    @Test func noDescriptorOfALoopHasTheNumberOfAClosedStandardOne() async {
        await #expect(processExitsWith: .success) { inQuietProcess { runWithClosedOnes() } }
    }

    /// The numbers are checked before the first loop of a process is made, and after later ones.
    @Test func noDescriptorOfALaterLoopHasTheNumberOfAClosedStandardOne() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                onAnotherThread { _ = UVRunLoop.current }
                runWithClosedOnes()
            }
        }
    }

    @Test func noDescriptorOfASignalOrARecorderHasTheNumberOfAClosedStandardOne() async {
        await #expect(processExitsWith: .success) { inQuietProcess { recordWithClosedOnes() } }
    }
}

// MARK: - Their mode

private func watchInTwoLoops() {
    let pipe = Pipe()
    dup2(pipe.readEnd, 0)
    for _ in 0..<200 {
        let threads = (0..<2).map { _ in
            startThread {
                let loop = UVRunLoop.current
                let source = standardInput { _, _ in }
                loop.add(source, forMode: .default)
                loop.run(mode: .default, for: .zero)
                source.invalidate()
            }
        }
        // Not before, because the other thread may be in libuv's call that sets the flag.
        for thread in threads { thread.join() }
        precondition(!isNonBlocking(0), "The descriptor is not as it was.")
    }
}

private func watchNonBlocking() {
    let pipe = Pipe()
    dup2(pipe.readEnd, 0)
    _ = fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK)
    onAnotherThread {
        let source = standardInput { _, _ in }
        UVRunLoop.current.add(source, forMode: .default)
        UVRunLoop.current.run(mode: .default, for: .zero)
        precondition(isNonBlocking(0))
        source.invalidate()
    }
    precondition(isNonBlocking(0))
}

private func watchADuplicate() {
    let pipe = Pipe()
    dup2(pipe.readEnd, 0)
    onAnotherThread {
        let loop = UVRunLoop.current
        let source = require(
            try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
        )
        let standard = standardInput { _, _ in }
        for item in [source, standard] { loop.add(item, forMode: .default) }
        loop.run(mode: .default, for: .zero)
        precondition(isNonBlocking(0))
        source.invalidate()
        precondition(!isNonBlocking(0))
        standard.invalidate()
        precondition(!isNonBlocking(0))
    }
}

// MARK: - Files

private func readAFile() {
    file("0123456789", as: 0)
    onAnotherThread {
        let log = EventLog()
        let source = standardInput { _, events in
            var buffer = [UInt8](repeating: 0, count: 4)
            let count = read(0, &buffer, buffer.count)
            log.note("\(count)" + (events.contains(.hangUp) ? " and a hang-up" : ""))
            precondition(events.contains(.readable))
            if events.contains(.hangUp) { UVRunLoop.current.stop() }
        }
        let loop = UVRunLoop.current
        loop.add(source, forMode: .default)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        // The source is off after the hang-up, so the loop sleeps until its limit; and is in its
        // mode, so the run does not finish.
        precondition(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
        precondition(log.entries == ["4", "4", "2", "0 and a hang-up"], "\(log.entries)")
        precondition(source.isValid)
        source.invalidate()
        precondition(loop.run(mode: .default, for: .milliseconds(20)) == .finished)
    }
}

private func readNothing() {
    for open in [{ file("", as: 0) }, { device("/dev/null", as: 0) }] {
        open()
        onAnotherThread {
            let log = EventLog()
            let source = standardInput { _, events in
                log.note("\(events == [.readable, .hangUp])")
            }
            UVRunLoop.current.add(source, forMode: .default)
            UVRunLoop.current.run(mode: .default, for: .milliseconds(20))
            precondition(log.entries == ["true"], "\(log.entries)")
        }
    }
}

private func shareAFile() {
    file("0123456789", as: 0)
    onAnotherThread {
        let log = EventLog()
        let loop = UVRunLoop.current
        for name in ["A", "B"] {
            let source = standardInput { source, events in
                var buffer = [UInt8](repeating: 0, count: 4)
                let count = read(0, &buffer, buffer.count)
                log.note(name)
                if count == 0 { source.invalidate() }
            }
            loop.add(source, forMode: .default)
        }
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        precondition(log.entries == ["A", "B", "A", "B", "A"], "\(log.entries)")
    }
}

private func writeAFile() {
    file("", as: 1)
    onAnotherThread {
        let loop = UVRunLoop.current
        let calls = Box(0)
        let source = require(
            try? UVRunLoop.DescriptorSource(1, events: .writable) { source, events in
                precondition(events == .writable)
                precondition(write(1, "x", 1) == 1)
                calls.value += 1
                if calls.value == 10 { source.invalidate() }
            }
        )
        loop.add(source, forMode: .default)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        precondition(lseek(1, 0, SEEK_CUR) == 10)
    }
}

private func readWithoutEnd() {
    device("/dev/zero", as: 0)
    onAnotherThread {
        let loop = UVRunLoop.current
        let pipe = Pipe()
        let log = EventLog()
        let reads = Box(0)
        let source = standardInput { _, events in
            precondition(events == .readable)
            reads.value += 1
        }
        let other = require(
            try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { source, _ in
                log.note("pipe")
                source.invalidate()
            }
        )
        loop.add(source, forMode: .default)
        loop.add(other, forMode: .default)
        pipe.write("x")
        loop.add(UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }, forMode: .default)
        loop.perform { log.note("block") }
        for _ in 1...4 { loop.run(mode: .default, for: .zero) }
        precondition(Set(log.entries) == ["pipe", "timer", "block"], "\(log.entries)")
        precondition(reads.value >= 1)
        source.invalidate()
    }
}

private func countDescriptors() {
    file("0123456789", as: 0)
    // libuv keeps some that it opens with the first loop of a process.
    onAnotherThread { UVRunLoop.current.run(mode: .default, for: .zero) }
    let before = openDescriptors()
    onAnotherThread {
        for isAdded in [true, false] {
            let source = standardInput { _, _ in }
            if isAdded { UVRunLoop.current.add(source, forMode: .default) }
            UVRunLoop.current.run(mode: .default, for: .zero)
        }
        // One that is invalid has none, whoever keeps it.
        let count = openDescriptorCount()
        for isAdded in [true, false] {
            let source = standardInput { source, _ in source.invalidate() }
            if isAdded { UVRunLoop.current.add(source, forMode: .default) }
            UVRunLoop.current.run(mode: .default, for: .zero)
            source.invalidate()
            precondition(openDescriptorCount() == count)
            withExtendedLifetime(source) {}
        }
    }
    precondition(openDescriptors() == before)
}

// MARK: - Closed ones

private func runWithClosedOnes() {
    closeStandardDescriptors()
    onAnotherThread {
        let fired = Box(false)
        let loop = UVRunLoop.current
        // A timer without tolerance needs a timerfd.
        loop.add(
            UVRunLoop.Timer(after: .milliseconds(1)) { _ in fired.value = true },
            forMode: .default
        )
        precondition(loop.run(mode: .default, for: nil) == .finished && fired.value)
        do throws(RunLoopError) {
            _ = try UVRunLoop.DescriptorSource(0, events: .readable) { _, _ in }
            preconditionFailure("A closed descriptor cannot be watched.")
        } catch {
            precondition(error.code == .descriptorClosed, "\(error)")
        }
        expectClosedStandardDescriptors()
    }
}

private func recordWithClosedOnes() {
    let folder = TemporaryFolder()
    closeStandardDescriptors()
    onAnotherThread {
        let loop = UVRunLoop.current
        let source = require(try? UVRunLoop.SignalSource(SIGUSR1) { _, _ in loop.stop() })
        let recorder = require(try? UVRunLoop.Recorder(path: folder.path + "/trace"))
        loop.add(source, forMode: .default)
        kill(getpid(), SIGUSR1)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        expectClosedStandardDescriptors()
        source.invalidate()
        recorder.stop()
        expectClosedStandardDescriptors()
    }
}

// MARK: - Means

private func standardInput(
    _ handler: @escaping (UVRunLoop.DescriptorSource, UVRunLoop.DescriptorSource.Events) -> Void
) -> UVRunLoop.DescriptorSource {
    require(try? UVRunLoop.DescriptorSource(0, events: .readable, handler: handler))
}

private func require<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("The descriptor cannot be watched.") }
    return value
}

/// Makes a descriptor lead to a file of this content that has no name any more.
private func file(_ content: String, as descriptor: CInt) {
    var name = Array("/tmp/uvrunloop-test-XXXXXX".utf8CString)
    let file = mkstemp(&name)
    precondition(file >= 0)
    unlink(name)
    precondition(write(file, content, content.utf8.count) == content.utf8.count)
    lseek(file, 0, SEEK_SET)
    dup2(file, descriptor)
    close(file)
}

private func device(_ path: String, as descriptor: CInt) {
    let device = open(path, O_RDWR)
    precondition(device >= 0)
    dup2(device, descriptor)
    close(device)
}
