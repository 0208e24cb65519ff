import Glibc
import Testing

@testable import UVRunLoop

/// The timeline that a recorder writes.
@Suite(.timeLimit(.minutes(15))) struct RecorderTests {
    @Test func theTimelineHasTheCallsOfEveryKindWithTheirLabels() throws {
        let events = try record("all kinds") { loop in
            addOneOfEach(to: loop)
            loop.perform {}
            Task(executorPreference: loop.taskExecutor) { loop.perform {} }
            loop.run()
        }
        #expect(events.named("poll").of("timer").count == 1)
        #expect(events.named("work").of("source").count == 1)
        #expect(events.named("requests").of("port").count == 1)
        #expect(!events.named("watch").of("observer").isEmpty)
        #expect(events.of("block").count == 2)
        #expect(!events.of("job").isEmpty)
        #expect(events.named("poll").first?.arguments["late µs"] != nil)
        #expect(events.named("watch").first?.arguments["detail"] == "beforeTimers")
    }

    @Test func slicesAreNestedAsRunsPassesAndCallsAre() throws {
        let events = try record("nesting") { loop in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                loop.perform(inModes: [UVRunLoop.Mode("inner")]) {}
                loop.run(mode: UVRunLoop.Mode("inner"), for: .seconds(60))
                loop.stop()
            }
            timer.label = "outer"
            loop.add(timer)
            loop.run()
        }
        #expect(events.areNested)
        let runs = events.of("run")
        #expect(runs.count == 2)
        let inner = try #require(runs.first { $0.arguments["mode"] == "inner" })
        let call = try #require(events.named("outer").first)
        #expect(call.time <= inner.time && inner.end <= call.end)
        #expect(!events.of("pass").isEmpty)
    }

    @Test func passesHaveTheNumbersInTheOrderOfTheirBeginnings() throws {
        let events = try record("numbers") { loop in
            loop.add(UVRunLoop.Timer(after: .seconds(1_000)) { _ in })
            loop.perform {
                for _ in 0..<3 { loop.run(mode: .default, for: .zero) }
                loop.stop()
            }
            loop.run()
        }
        let passes = events.of("pass").sorted { $0.time < $1.time }
        let numbers = passes.map { $0.arguments["number"] }
        #expect(numbers == ["1", "2", "3", "4"])
    }

    @Test func theRunThatBeginsARecorderHasItsPassesRecorded() throws {
        let folder = TemporaryFolder()
        let recorder = SharedBox<UVRunLoop.Recorder?>(nil)
        onAnotherThread {
            let (loop, calls) = (UVRunLoop.current, Counter())
            loop.label = "begun"
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { _ in
                if calls.add() == 2 {
                    recorder.value = try? UVRunLoop.Recorder(path: folder.path + "/trace")
                }
                if calls.value == 10 { loop.stop() }
            }
            loop.add(timer)
            loop.run()
            timer.invalidate()
            letTimePass(.milliseconds(20))
            loop.perform {}
            loop.run()
        }
        recorder.value?.stop()
        let events = try Trace(path: folder.path + "/trace").events(ofThread: "begun")
        #expect(events.areNested)
        // The end of the first run is not told.
        #expect(events.of("run").count == 1)
        let next = try #require(events.of("run").first)
        let passes = events.of("pass").filter { $0.time < next.time }
        #expect(passes.count >= 7)
        #expect(passes.allSatisfy { $0.end < next.time - 10_000 })
    }

    @Test func aWakeUpLeadsFromItsSenderToTheSleepThatItEnds() throws {
        let path = TemporaryFolder()
        let recorder = try UVRunLoop.Recorder(path: path.path + "/trace")
        let woken = try UVRunLoop.Thread(name: "woken one")
        let sender = try UVRunLoop.Thread(name: "sender")
        let isDone = Signal()
        // Its block has run: no earlier wake-up is under way.
        try woken.runLoop.performAndWait {}
        awaitSleep(of: woken.runLoop)
        sender.runLoop.perform { woken.runLoop.perform { isDone.send() } }
        isDone.wait()
        for thread in [woken, sender] {
            thread.stop()
            thread.join()
        }
        recorder.stop()
        let trace = try Trace(path: path.path + "/trace")
        let wakes = trace.events(ofThread: "sender").named("wake woken one")
        #expect(wakes.count == 1)
        let starts = trace.events(ofThread: "sender").filter { $0.phase == "s" }
        let start = try #require(starts.first { $0.time == wakes.first?.time })
        let loop = trace.events(ofThread: "woken one")
        let end = try #require(loop.first { $0.phase == "f" && $0.number == start.number })
        let sleep = try #require(
            loop.of("sleep").first { $0.time <= end.time && end.time <= $0.end }
        )
        #expect(sleep.arguments["woken by"] == "sender")
        #expect(start.time <= end.time)
    }

    @Test func aRunThatGoesOnWhenTheRecorderEndsIsInTheTimeline() throws {
        let folder = TemporaryFolder()
        let recorder = try UVRunLoop.Recorder(path: folder.path + "/trace")
        let thread = try UVRunLoop.Thread(name: "goes on")
        thread.runLoop.perform {}
        awaitSleep(of: thread.runLoop)
        recorder.stop()
        thread.stop()
        thread.join()
        let events = try Trace(path: folder.path + "/trace").events(ofThread: "goes on")
        #expect(events.of("run").count == 1)
        #expect(events.areNested)
    }

    @Test func aLabelMayHaveAnyCharacters() throws {
        let label = "a \"label\"\\\n\u{1} ü"
        let events = try record("any characters") { loop in
            let timer = UVRunLoop.Timer(after: .zero) { _ in }
            timer.label = label
            loop.add(timer)
            loop.run()
        }
        #expect(events.named(label).count == 1)
    }

    @Test func aRunInAnUnknownModeIsNoted() throws {
        let events = try record("unused mode") { loop in
            loop.perform {}
            loop.run()
            loop.run(mode: UVRunLoop.Mode("no such mode"), for: .zero)
        }
        #expect(events.named("run in the unused mode no such mode").count == 1)
    }

    @Test func aFileThatCannotBeOpenedThrows() {
        #expect(throws: RunLoopError.self) {
            try UVRunLoop.Recorder(path: "/no such folder/trace")
        }
    }

    @Test func aPathWithAZeroByteThrows() {
        #expect(throws: UVRunLoop.RunLoopError.self) {
            try UVRunLoop.Recorder(path: "/tmp/uvrunloop\0trace")
        }
        #expect(access("/tmp/uvrunloop", F_OK) != 0)
    }

    @Test func aRecorderThatIsNotStoppedEndsWithTheProgram() async throws {
        let path = tracePath("not-stopped", of: getpid())
        defer { unlink(path) }
        await #expect(processExitsWith: .exitCode(3)) {
            let recorder = try UVRunLoop.Recorder(path: tracePath("not-stopped", of: getppid()))
            runThreeTimes()
            withExtendedLifetime(recorder) { exit(3) }
        }
        let events = try Trace(path: path).events(ofThread: "traced")
        #expect(events.named("poll").count == 3)
    }

    @Test func linesThatCannotBeWrittenAreCounted() async throws {
        let path = tracePath("full", of: getpid())
        defer { unlink(path) }
        await #expect(processExitsWith: .success) {
            let (path, complaints) = (tracePath("full", of: getppid()), Pipe())
            let recorder = try UVRunLoop.Recorder(path: path)
            awaitText(at: path) { !$0.isEmpty }
            let standardError = dup(STDERR_FILENO)
            dup2(complaints.writeEnd, STDERR_FILENO)
            setFileSizeLimit(300)
            runThreeTimes(as: "lost")
            withExtendedLifetime(complaints) {
                precondition(waitUntilReadable(complaints.readEnd), "Nothing was lost.")
                dup2(standardError, STDERR_FILENO)
            }
            setFileSizeLimit(.max)
            runThreeTimes()
            recorder.stop()
        }
        let trace = try Trace(path: path)
        #expect(
            trace.events.contains {
                $0.name.hasSuffix("lines of the timeline could not be written")
            }
        )
        #expect(trace.events(ofThread: "traced").named("poll").count == 3)
    }

    @Test func aFileHasOneRecorderAtATime() throws {
        let folder = TemporaryFolder()
        let recorder = try UVRunLoop.Recorder(path: folder.path + "/trace")
        let error = #expect(throws: RunLoopError.self) {
            try UVRunLoop.Recorder(path: folder.path + "/trace")
        }
        #expect(error?.code == .fileBeingRecordedTo)
        recorder.stop()
    }

    @Test func aRecorderCanBeStoppedTwice() throws {
        let folder = TemporaryFolder()
        let recorder = try UVRunLoop.Recorder(path: folder.path + "/trace")
        recorder.stop()
        recorder.stop()
        #expect(try Trace(path: folder.path + "/trace").events.contains { $0.phase == "M" })
    }

    @Test func aFileCanBeWrittenAgainByTheSameThread() throws {
        let folder = TemporaryFolder()
        try withLoop { loop in
            for number in 0..<3 {
                loop.label = "recording \(number)"
                let recorder = try UVRunLoop.Recorder(path: folder.path + "/trace")
                loop.perform {}
                loop.run(mode: .default, for: .zero)
                recorder.stop()
            }
        }
        let trace = try Trace(path: folder.path + "/trace")
        #expect(trace.events(ofThread: "recording 2").of("block").count == 1)
    }

    @Test func aLoopThatWasRecordedIsReleased() throws {
        let folder = TemporaryFolder()
        weak var loop: UVRunLoop?
        do {
            let recorder = try UVRunLoop.Recorder(path: folder.path + "/trace")
            let thread = try UVRunLoop.Thread()
            loop = thread.runLoop
            try thread.runLoop.performAndWait {}
            recorder.stop()
            thread.stop()
            thread.join()
        }
        // The record of a thread that has ended is released when others end.
        for _ in 0..<1_000 where loop != nil { onAnotherThread { _ = UVRunLoop.current } }
        #expect(loop == nil)
    }

    @Test func theLastCallsOfLoopsThatEndAreInTheTimeline() throws {
        let folder = TemporaryFolder()
        let recorder = try UVRunLoop.Recorder(path: folder.path + "/trace")
        for _ in 0..<200 {
            onAnotherThread {
                let loop = UVRunLoop.current
                loop.label = "short life"
                let timer = UVRunLoop.Timer(after: .zero) { _ in }
                timer.label = "last call"
                loop.add(timer)
                loop.run()
            }
        }
        recorder.stop()
        let trace = try Trace(path: folder.path + "/trace")
        #expect(trace.events.named("last call").count == 200)
    }

    // MARK: By the environment

    @Test func aProgramThatExitsHasACompleteFile() async throws {
        let path = tracePath("exit", of: getpid())
        defer { unlink(path) }
        await #expect(processExitsWith: .exitCode(3)) {
            runWithTrace("exit")
            exit(3)
        }
        let events = try Trace(path: path).events(ofThread: "traced")
        #expect(events.named("poll").count == 3)
        #expect(events.areNested)
    }

    @Test func theFileOfAProgramThatWasKilledCanBeOpened() async throws {
        let path = tracePath("kill", of: getpid())
        defer { unlink(path) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            runWithTrace("kill")
            awaitText(at: tracePath("kill", of: getppid())) {
                $0.split(separator: "\"poll\"").count > 3
            }
            kill(getpid(), SIGKILL)
        }
        let events = try Trace(path: path, isComplete: false).events(ofThread: "traced")
        #expect(events.named("poll").count == 3)
    }

    @Test func aProgramThatCannotBeRecordedRunsAndSaysSo() async {
        let path = "/no such folder/trace"
        let result = await #expect(
            processExitsWith: .exitCode(3),
            observing: [\.standardErrorContent]
        ) {
            setenv("UVRUNLOOP_TRACE", "/no such folder/trace", 1)
            runThreeTimes()
            exit(3)
        }
        #expect(says("UVRUNLOOP_TRACE: \(path) cannot be written: ", result?.standardErrorContent))
    }
}

/// Records what a body does with the loop of a new thread, and returns the events of that thread.
private func record(
    _ name: String,
    _ body: @escaping @Sendable (UVRunLoop) -> Void
) throws -> [Trace.Event] {
    let folder = TemporaryFolder()
    let recorder = try UVRunLoop.Recorder(path: folder.path + "/trace")
    onAnotherThread {
        UVRunLoop.current.label = name
        body(UVRunLoop.current)
    }
    recorder.stop()
    return try Trace(path: folder.path + "/trace").events(ofThread: name)
}

private func addOneOfEach(to loop: UVRunLoop) {
    let timer = UVRunLoop.Timer(after: .milliseconds(20)) { _ in UVRunLoop.current.stop() }
    timer.label = "poll"
    loop.add(timer)
    let source = UVRunLoop.Source { _ in }
    source.label = "work"
    loop.add(source)
    source.signal()
    let port = UVRunLoop.Port { _, _ in }
    port.label = "requests"
    loop.add(port)
    _ = port.send(UVRunLoop.PortMessage(components: [.value(1)]), limit: .zero)
    let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in }
    observer.label = "watch"
    loop.add(observer)
}

/// Where the process of an exit test writes, which this one has started.
private func tracePath(_ name: String, of starter: pid_t) -> String {
    "/tmp/uvrunloop-trace-\(starter)-\(name)"
}

private func setFileSizeLimit(_ size: rlim_t) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = size
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
}

private func runWithTrace(_ name: String) {
    setenv("UVRUNLOOP_TRACE", tracePath(name, of: getppid()), 1)
    runThreeTimes()
}

/// Waits until what was written to a file is as it should be.
private func awaitText(at path: String, _ isAsExpected: (String) -> Bool) {
    for _ in 0..<60_000 {
        if let text = try? Trace.text(at: path), isAsExpected(text) { return }
        usleep(1_000)
    }
    preconditionFailure("It is not written.")
}

/// Has a timer called three times on a thread of its own.
private func runThreeTimes(as label: String = "poll") {
    onAnotherThread {
        let loop = UVRunLoop.current
        loop.label = "traced"
        let left = Box(3)
        let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { timer in
            left.value -= 1
            if left.value == 0 { timer.invalidate() }
        }
        timer.label = label
        loop.add(timer)
        loop.run()
    }
}
