import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

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
            let child = try startCat(on: loop, story)
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

    @Test func manySmallWritesThatWaitReachTheChildInOrder() throws {
        try withLoop { loop in
            let story = ChildStory()
            let child = try startCat(on: loop, story)
            // More than a pipe holds, and the loop writes no more until it runs.
            let numbers = (0..<100_000).map { "\($0)," }
            for number in numbers { try child.write(Array(number.utf8)) }
            #expect(child.queuedBytes > 400_000)
            child.endInput()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(story.output == numbers.joined())
            #expect(child.queuedBytes == 0)
        }
    }

    @Test(arguments: [false, true])
    func whatAnotherThreadWroteComesBeforeWhatTheLoopsThreadDoesNext(writes: Bool) throws {
        try withLoop { loop in
            let story = ChildStory()
            let child = try startCat(on: loop, story)
            try onAnotherThread {
                for text in ["a", "b", "c"] { try child.write(Array(text.utf8)) }
            }
            if writes { try child.write(Array("d".utf8)) }
            child.endInput()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(story.output == (writes ? "abcd" : "abc"))
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
            // The child may take its time to begin.
            loop.run(mode: .modalPanel, for: .seconds(60), returnAfterSourceHandled: true)
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

    /// In a process where nobody forks: a forked child would keep the pipe open.
    @Test func aChildThatClosesItsInputIsTold() async {
        await #expect(processExitsWith: .success) {
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
                precondition(failure.value?.code == .brokenPipe)
            }
        }
    }

    @Test func aStatusThatWasNotToldIsLeft() throws {
        try withLoop { loop in
            let child = try ChildProcess(shell("echo a; exit 3")) { child, event in
                #expect(event == .output([97, 10]))
                child.invalidate()
            }
            loop.add(child, forMode: .default)
            awaitZombie(child.process)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(awaitEnd(of: child.process) == 3)
        }
    }

    @Test func theDrainedInputIsToldOnce() throws {
        try withLoop { loop in
            let drained = Box(0)
            let child = try ChildProcess(.init("cat", input: .pipe, output: .null)) { _, event in
                if event == .inputDrained { drained.value += 1 }
            }
            loop.add(child, forMode: .default)
            for _ in 0..<1_000 { try child.write([1]) }
            child.endInput()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(drained.value == 1)
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

    @Test func startsOfChildrenLeaveTheSourcesOfOtherThreadsAlone() async {
        await #expect(processExitsWith: .success) { try watchChildSignalsWhileChildrenStart() }
    }

    @Test func anIgnoredRealTimeSignalIsNotIgnoredByTheProgram() async {
        await #expect(processExitsWith: .success) {
            signal(40, SIG_IGN)
            try withLoop { loop in
                let story = ChildStory()
                let script = "grep SigIgn /proc/self/status"
                let child = try ChildProcess(shell(script), handler: story.handler)
                loop.add(child, forMode: .default)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                let mask = story.output.split(whereSeparator: \.isWhitespace).last
                guard let ignored = mask.flatMap({ UInt64($0, radix: 16) }) else { exit(1) }
                precondition(ignored & 1 << 39 == 0, story.output)
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

/// Starts a program that prints what is written to it.
private func startCat(on loop: UVRunLoop, _ story: ChildStory) throws -> ChildProcess {
    let child = try ChildProcess(
        .init("cat", input: .pipe, errorOutput: .null),
        handler: story.handler
    )
    loop.add(child, forMode: .default)
    return child
}

/// Makes and ends sources for `SIGCHLD` while another thread starts children.
private func watchChildSignalsWhileChildrenStart() throws {
    let isDone = Guarded(false)
    let starter = startThread {
        withLoop { loop in
            for _ in 0..<100 {
                guard let child = try? ChildProcess(.init("true"), handler: { _, _ in }) else {
                    preconditionFailure("A program could not be started.")
                }
                loop.add(child, forMode: .default)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
            }
        }
        isDone.withLock { $0 = true }
    }
    let loop = UVRunLoop.current
    let count = Box(0)
    var source = try UVRunLoop.SignalSource(SIGCHLD) { count.value += $1 }
    while !isDone.withLock({ $0 }) {
        source.invalidate()
        source = try UVRunLoop.SignalSource(SIGCHLD) { count.value += $1 }
    }
    starter.join()
    loop.add(source, forMode: .default)
    loop.run(mode: .default, for: .zero)
    count.value = 0
    kill(getpid(), SIGCHLD)
    precondition(loop.run(for: .seconds(60), returnAfterSourceHandled: true) == .handledSource)
    precondition(count.value == 1)
    source.invalidate()
    var action = sigaction()
    sigaction(SIGCHLD, nil, &action)
    precondition(action.__sigaction_handler.sa_handler == nil, "SIGCHLD has a handler left.")
}
