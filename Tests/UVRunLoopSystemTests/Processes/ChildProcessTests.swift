import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private typealias ChildProcess = UVRunLoop.ChildProcess

/// Programs in child processes, as sources of a loop.
@Suite(.timeLimit(.minutes(15))) struct ChildProcessTests {
    @Test func outputAndExitAreTold() throws {
        try withLoop { loop in
            let story = ChildStory()
            let child = try ChildProcess(shell("printf hello; exit 3"), handler: story.handler)
            loop.add(child, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(story.output == "hello")
            #expect(story.status == .exited(code: 3))
            #expect(story.ends == ["output"])
            #expect(!child.isValid)
        }
    }

    @Test func argumentsEnvironmentAndDirectoryAreTheChilds() throws {
        try withLoop { loop in
            let story = ChildStory()
            var configuration = shell("printf '%s|' \"$0\" \"$1\" \"$NAME\" \"$HOME\"; pwd")
            configuration.arguments += ["a b", "c\"d"]
            configuration.environment = ["NAME": "a=b", "PATH": "/bin:/usr/bin"]
            configuration.directory = "/"
            let child = try ChildProcess(configuration, handler: story.handler)
            loop.add(child, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(story.output == "a b|c\"d|a=b||/\n")
        }
    }

    @Test func inputIsWrittenAndEnded() throws {
        try withLoop { loop in
            let story = ChildStory()
            let child = try ChildProcess(
                .init("cat", input: .pipe, errorOutput: .null),
                handler: story.handler
            )
            loop.add(child, forMode: .default)
            let text = String(repeating: "0123456789abcdef", count: 40_000)
            try child.write(Array(text.utf8))
            try child.write(Array("!".utf8))
            child.endInput()
            #expect(throws: UVRunLoop.SystemError.self) { try child.write([1]) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(story.output == text + "!")
            #expect(story.status == .exited(code: 0) && child.queuedBytes == 0)
        }
    }

    @Test func errorOutputIsApart() throws {
        try withLoop { loop in
            let story = ChildStory()
            var configuration = shell("printf one; printf two >&2")
            configuration.errorOutput = .pipe
            let child = try ChildProcess(configuration, handler: story.handler)
            loop.add(child, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(story.output == "one" && story.errors == "two")
            #expect(Set(story.ends) == ["output", "errors"])
        }
    }

    @Test func descriptorsArePassedOn() throws {
        try withLoop { loop in
            let pipe = Pipe()
            let story = ChildStory()
            let child = try ChildProcess(
                .init("echo", ["hello"], output: .descriptor(pipe.writeEnd)),
                handler: story.handler
            )
            loop.add(child, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(story.status == .exited(code: 0))
            #expect(pipe.read() == "hello\n")
        }
    }

    @Test func theStandardDescriptorsArePipes() throws {
        try withLoop { loop in
            let story = ChildStory()
            var configuration = shell("test -p /dev/stdin && test -p /dev/stdout && echo yes")
            configuration.input = .pipe
            let child = try ChildProcess(configuration, handler: story.handler)
            loop.add(child, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(story.output == "yes\n")
        }
    }

    @Test func aSignalEndsTheChild() throws {
        try withLoop { loop in
            let story = ChildStory()
            let child = try ChildProcess(.init("sleep", ["600"]), handler: story.handler)
            loop.add(child, forMode: .default)
            try child.send(signal: SIGKILL)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(story.status == .signaled(signal: SIGKILL, coreDumped: false))
            let refusal = code { () throws(UVRunLoop.SystemError) in
                try child.send(signal: SIGTERM)
            }
            #expect(refusal == .processEnded)
        }
    }

    // MARK: Modes and limits

    @Test func eventsWaitForTheirMode() throws {
        try withLoop { loop in
            let story = ChildStory()
            let child = try ChildProcess(shell("echo one"), handler: story.handler)
            loop.add(child, forMode: .modalPanel)
            awaitZombie(child.process)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
            #expect(story.output == "" && story.status == nil)
            #expect(loop.run(mode: .modalPanel, for: .seconds(60)) == .finished)
            #expect(story.output == "one\n" && story.status == .exited(code: 0))
        }
    }

    @Test func outputThatNobodyTakesMakesTheChildWait() throws {
        try withLoop { loop in
            let story = ChildStory()
            let child = try ChildProcess(.init("yes"), handler: story.handler)
            loop.add(child, forMode: .modalPanel)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            loop.run(mode: .default, for: .milliseconds(50))
            let before = threadProcessorTime()
            loop.run(mode: .default, for: .milliseconds(100))
            // A loop that is told of output which it does not read would not sleep.
            #expect(threadProcessorTime() - before < 50_000_000)
            try child.send(signal: SIGKILL)
            #expect(loop.run(mode: .modalPanel, for: .seconds(60)) == .finished)
            #expect(story.received < 4 << 20 && story.received > 0)
        }
    }

    @Test func aChildThatEndedBeforeItsOutputLetsTheLoopSleep() throws {
        try withLoop { loop in
            let story = ChildStory()
            var configuration = shell("sleep 600 & exit 0")
            configuration.startsSession = true
            let child = try ChildProcess(configuration, handler: story.handler)
            loop.add(child, forMode: .default)
            while story.status == nil { loop.run(mode: .default, for: .milliseconds(1)) }
            let before = threadProcessorTime()
            #expect(loop.run(mode: .default, for: .milliseconds(200)) == .timedOut)
            #expect(threadProcessorTime() - before < 50_000_000)
            #expect(kill(-child.process, SIGKILL) == 0)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(story.ends == ["output"])
        }
    }

    @Test func aBurstArrivesWhole() throws {
        try withLoop { loop in
            let story = ChildStory()
            let child = try ChildProcess(
                .init("head", ["-c", "20000000", "/dev/zero"]),
                handler: story.handler
            )
            loop.add(child, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(story.received == 20_000_000)
        }
    }

    @Test func invalidatingInTheHandlerEndsTheEvents() throws {
        try withLoop { loop in
            let count = Box(0)
            let child = try ChildProcess(.init("yes")) { child, _ in
                count.value += 1
                child.invalidate()
            }
            loop.add(child, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(count.value == 1)
            // It is killed by SIGPIPE.
            #expect(awaitEnd(of: child.process) == -SIGPIPE)
        }
    }

    // MARK: Failure

    @Test func programsThatCannotBeStartedThrow() throws {
        withLoop { _ in
            #expect(code(of: .init("/no/such/program")) == .noSuchFile)
            #expect(code(of: .init("no-such-program-in-path")) == .noSuchFile)
            #expect(code(of: .init("")) == .noSuchFile)
            #expect(code(of: .init("/tmp")) == .notPermitted)
            #expect(code(of: .init("true", directory: "/no/such/directory")) == .noSuchFile)
            #expect(code(of: .init("true", ["\0"])) == .invalidArgument)
            #expect(code(of: .init("true", environment: ["a=b": ""])) == .invalidArgument)
            #expect(code(of: .init("true", output: .descriptor(-1))) == .descriptorClosed)
            #expect(code(of: .init("true", output: .descriptor(9_999))) == .descriptorClosed)
        }
    }

    @Test func aChildThatClosesItsInputIsTold() throws {
        try withLoop { loop in
            let failure = Box<UVRunLoop.SystemError?>(nil)
            let configuration = ChildProcess.Configuration("true", input: .pipe)
            let child = try ChildProcess(configuration) { _, event in
                if case .inputFailed(let error) = event { failure.value = error }
            }
            loop.add(child, forMode: .default)
            awaitZombie(child.process)
            // Without the source, SIGPIPE would end the process.
            try child.write([1, 2, 3])
            loop.run(mode: .default, for: .seconds(60))
            #expect(failure.value?.code == .brokenPipe)
        }
    }

    @Test func aFullTableOfDescriptorsThrowsAndLeavesNoChild() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                withLoop { loop in
                    let table = FullTable()
                    for free in 0..<8 {
                        table.leave(free)
                        let before = openDescriptorCount()
                        let configuration = ChildProcess.Configuration("true", input: .pipe)
                        let refusal = code { () throws(UVRunLoop.SystemError) in
                            let child = try ChildProcess(configuration) { _, _ in }
                            loop.add(child, forMode: .default)
                        }
                        precondition(refusal == nil || refusal == .noDescriptorsLeft)
                        loop.run(mode: .default, for: refusal == nil ? .seconds(60) : .zero)
                        precondition(openDescriptorCount() == before)
                        precondition(waitpid(-1, nil, 0) == -1 && errno == ECHILD)
                    }
                    table.clear()
                }
            }
        }
    }

    @Test func noDescriptorLeaksIntoTheChild() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    // Without FD_CLOEXEC, as plain open(2) makes it.
                    let open = dup(0)
                    precondition(fcntl(open, F_GETFD) == 0)
                    let story = ChildStory()
                    var configuration = shell("ls /proc/self/fd")
                    configuration.input = .pipe
                    let child = try ChildProcess(configuration, handler: story.handler)
                    let other = try ChildProcess(.init("sleep", ["600"])) { _, _ in }
                    loop.add(child, forMode: .default)
                    loop.run(mode: .default, for: .seconds(60))
                    // The last one is that of ls itself.
                    precondition(story.output == "0\n1\n2\n3\n", story.output)
                    precondition(fcntl(open, F_GETFD) == 0)
                    try other.send(signal: SIGKILL)
                }
            }
        }
    }

    /// The number may be another thread's file by the time a flag would be taken back.
    @Test func theFlagsOfDescriptorsStayWhileChildrenAreStarted() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    let open = dup(0)
                    let isDone = SharedBox(false)
                    let hasChanged = SharedBox(false)
                    let thread = startThread {
                        while !isDone.value {
                            if fcntl(open, F_GETFD) != 0 { hasChanged.value = true }
                        }
                    }
                    for _ in 0..<50 {
                        let child = try ChildProcess(.init("true")) { _, _ in }
                        loop.add(child, forMode: .default)
                    }
                    loop.run(mode: .default, for: .seconds(60))
                    isDone.value = true
                    thread.join()
                    precondition(!hasChanged.value)
                }
            }
        }
    }

    @Test func aThousandChildrenLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    let first = try ChildProcess(.init("true")) { _, _ in }
                    loop.add(first, forMode: .default)
                    loop.run(mode: .default, for: .seconds(60))
                    let before = openDescriptorCount()
                    for _ in 0..<100 {
                        for _ in 0..<10 {
                            let child = try ChildProcess(.init("true", input: .pipe)) { _, _ in }
                            loop.add(child, forMode: .default)
                        }
                        loop.run(mode: .default, for: .seconds(60))
                    }
                    loop.run(mode: .default, for: .zero)
                    precondition(openDescriptorCount() == before)
                    precondition(waitpid(-1, nil, 0) == -1 && errno == ECHILD)
                }
            }
        }
    }

    // MARK: Other code's signals

    @Test func aSourceForChildSignalsKeepsItsSignals() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    let count = Box(0)
                    let source = try UVRunLoop.SignalSource(SIGCHLD) { count.value += $1 }
                    loop.add(source, forMode: .default)
                    let child = try ChildProcess(shell("read line")) { _, event in
                        if case .exited = event { loop.stop() }
                    }
                    loop.add(child, forMode: .default)
                    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
                    count.value = 0
                    let other = startChild { 0 }
                    while count.value == 0 { loop.run(mode: .default, for: .milliseconds(10)) }
                    precondition(awaitEnd(of: other) == 0)
                }
            }
        }
    }

    @Test func theExitIsToldIfTheSignalIsBlocked() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    var signals = sigset_t()
                    sigfillset(&signals)
                    pthread_sigmask(SIG_SETMASK, &signals, nil)
                    let story = ChildStory()
                    let child = try ChildProcess(
                        shell("grep SigBlk /proc/self/status; exit 4"),
                        handler: story.handler
                    )
                    loop.add(child, forMode: .default)
                    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                    precondition(story.status == .exited(code: 4))
                    precondition(story.output == "SigBlk:\t0000000000000000\n", story.output)
                }
            }
        }
    }

    @Test func aThreadMayEndWhileItsChildRuns() throws {
        let process = SharedBox<CInt>(0)
        onAnotherThread {
            let child = try? ChildProcess(.init("sleep", ["600"], input: .pipe)) { _, _ in }
            guard let child else { return }
            UVRunLoop.current.add(child, forMode: .default)
            process.value = child.process
        }
        #expect(kill(process.value, SIGKILL) == 0)
        #expect(awaitEnd(of: process.value) == -SIGKILL)
    }
}

/// What a child has told.
private final class ChildStory {
    private(set) var status: UVRunLoop.ChildSource.ExitStatus?
    private(set) var ends: [String] = []
    private var bytes: [UInt8] = []
    private var errorBytes: [UInt8] = []

    var output: String { String(decoding: bytes, as: UTF8.self) }
    var errors: String { String(decoding: errorBytes, as: UTF8.self) }
    var received: Int { bytes.count }

    var handler: (ChildProcess, ChildProcess.Event) -> Void {
        { [self] _, event in
            switch event {
            case .output(let chunk): bytes += chunk
            case .errorOutput(let chunk): errorBytes += chunk
            case .outputEnded: ends.append("output")
            case .errorOutputEnded: ends.append("errors")
            case .exited(let end):
                precondition(status == nil)
                status = end
            case .inputDrained, .inputFailed: break
            }
        }
    }
}

private func shell(_ script: String) -> ChildProcess.Configuration {
    ChildProcess.Configuration("/bin/sh", ["-c", script])
}

private func code(of configuration: ChildProcess.Configuration) -> UVRunLoop.SystemError.Code? {
    code { () throws(UVRunLoop.SystemError) in _ = try ChildProcess(configuration) { _, _ in } }
}

private func code(
    of body: () throws(UVRunLoop.SystemError) -> Void
) -> UVRunLoop.SystemError.Code? {
    do {
        try body()
        return nil
    } catch {
        return error.code
    }
}
