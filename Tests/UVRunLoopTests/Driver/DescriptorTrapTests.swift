import Glibc
import Testing

@testable import UVRunLoop

/// Descriptors that are closed, shared, broken, or nobody's business at the moment.
@Suite(.timeLimit(.minutes(15))) struct DescriptorTrapTests {
    private let other = UVRunLoop.Mode("descriptor traps, other")

    @Test func aRegularFileAndADirectoryCannotBeWatched() throws {
        for path in ["/proc/self/exe", "/"] {
            let descriptor = open(path, O_RDONLY)
            defer { close(descriptor) }
            let error = #expect(throws: RunLoopError.self) {
                try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in }
            }
            #expect(error?.code == .descriptorNotWatchable)
            #expect(error?.underlying?.rawValue == -EPERM)
        }
    }

    /// The kernel says EBADF, although the number is open.
    @Test func aFileThatWasOpenedAsAPathOnlyIsNotWatchable() throws {
        // O_PATH, which Glibc's module lacks.
        let descriptor = open("/", 0o10_000_000)
        defer { close(descriptor) }
        let error = #expect(throws: RunLoopError.self) {
            try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in }
        }
        #expect(error?.code == .descriptorNotWatchable)
    }

    @Test func bitsThatStandForNoEventAreLeftOut() throws {
        let pipe = Pipe()
        pipe.write("x")
        let events = UVRunLoop.DescriptorEvents(rawValue: 0b1100_1001)
        try withCountedLoop { loop, _ in
            var delivered: UVRunLoop.DescriptorEvents = []
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: events) {
                delivered = $1
                $0.invalidate()
            }
            #expect(source.events == .readable)
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(delivered == .readable)
        }
    }

    @Test(arguments: [-1, CInt.max])
    func aNumberThatIsNoOpenDescriptorIsRefused(descriptor: CInt) throws {
        let error = #expect(throws: RunLoopError.self) {
            try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in }
        }
        #expect(error?.code == .descriptorClosed)
        #expect(error?.underlying?.rawValue == -EBADF)
    }

    /// The number that the next descriptor gets, also one that the check itself opens.
    @Test func theNumberThatWasClosedLastIsRefused() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                onAnotherThread { UVRunLoop.current.run(mode: .default, for: .zero) }
                let descriptor = dup(0)
                close(descriptor)
                do throws(RunLoopError) {
                    _ = try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in }
                    preconditionFailure("A closed descriptor cannot be watched.")
                } catch {
                    precondition(error.code == .descriptorClosed, "\(error)")
                }
            }
        }
    }

    @Test func makingASourceLeavesTheDescriptorAsItWas() throws {
        let pipe = Pipe()
        let before = fcntl(pipe.readEnd, F_GETFL)
        let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
        #expect(fcntl(pipe.readEnd, F_GETFL) == before)
        withExtendedLifetime(source) {}
    }

    /// libuv aborts the process when the kernel refuses a descriptor that it has been told of.
    @Test func aDescriptorClosedByItsOwnerDoesNotEndTheProcess() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { closeUnderTheLoop() }
        }
    }

    @Test func aDescriptorClosedBeforeItsFirstPollIsRefusedByOneLastCall() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { closeBeforeTheFirstPoll() }
        }
    }

    @Test func aNumberUsedAgainAfterInvalidationReachesNoNewOwner() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { useANumberAgain() }
        }
    }

    @Test func aNumberUsedAgainInAHandlerReachesNoNewOwner() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { useANumberAgainInAHandler() }
        }
    }

    @Test func theBlockingFlagIsTakenOnceAndGivenBackByTheLastLoop() throws {
        let pipe = Pipe()
        try withCountedLoop { loop, _ in
            let source = try watch(pipe.readEnd, loop)
            loop.run(mode: .default, for: .zero)
            #expect(isNonBlocking(pipe.readEnd))
            let gate = Signal()
            let isWatched = Signal()
            let thread = startThread {
                let source = try? UVRunLoop.DescriptorSource(
                    pipe.readEnd,
                    events: .readable,
                    sendableHandler: { _, _ in }
                )
                if let source { UVRunLoop.current.add(source, forMode: .default) }
                UVRunLoop.current.run(mode: .default, for: .zero)
                isWatched.send()
                gate.wait()
            }
            isWatched.wait()
            source.invalidate()
            #expect(isNonBlocking(pipe.readEnd))
            gate.send()
            thread.join()
            #expect(!isNonBlocking(pipe.readEnd))
        }
    }

    /// Judged by how often the loop waits, which does not depend on how fast it is.
    @Test func aDescriptorThatIsReadyForAnotherModeCostsAtMostOneWakeUp() throws {
        try withCountedLoop { loop, driver in
            let pipe = Pipe()
            let calls = Box(0)
            let source = try watch(pipe.readEnd, loop) { calls.value += 1 }
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            loop.run(mode: .default, for: .zero)
            pipe.write("x")
            for round in 0..<3 {
                driver.counts = CountingDriver.Counts()
                #expect(loop.run(mode: other, for: .milliseconds(50)) == .timedOut)
                #expect(driver.counts.waits <= 5)
                #expect(driver.counts.pauses == (round == 0 ? 1 : 0))
            }
            #expect(calls.value == 0)
            loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(calls.value == 1)
            source.invalidate()
        }
    }

    @Test func aDescriptorThatIsReadyForAnotherModeUsesNoProcessorTime() async {
        await #expect(processExitsWith: .success) { waitBesideAReadyDescriptor() }
    }

    @Test func whatASourceOnTheStackLeavesUnreadCostsANestedRunOneWakeUp() throws {
        try withCountedLoop { loop, driver in
            let pipe = Pipe()
            let nested = Box<UVRunLoop.RunResult?>(nil)
            let source = try watch(pipe.readEnd, loop) {
                guard nested.value == nil else { return loop.stop() }
                driver.counts.waits = 0
                nested.value = loop.run(mode: .default, for: .milliseconds(50))
                #expect(driver.counts.waits <= 5)
            }
            pipe.write("x")
            withHangGuard { #expect(loop.run(mode: .default, for: nil) == .stopped) }
            #expect(nested.value == .timedOut)
            source.invalidate()
        }
    }

    @Test func anOuterRunThatGetsControlBackServesWhatTheNestedOneTurnedOff() throws {
        try withCountedLoop { loop, _ in
            let pipe = Pipe()
            let calls = Box(0)
            let source = try watch(pipe.readEnd, loop) {
                calls.value += 1
                loop.stop()
            }
            loop.run(mode: .default, for: .zero)
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            loop.performLocally {
                pipe.write("x")
                #expect(loop.run(mode: self.other, for: .milliseconds(3)) == .timedOut)
            }
            withHangGuard { #expect(loop.run(mode: .default, for: nil) == .stopped) }
            #expect(calls.value == 1)
            source.invalidate()
        }
    }

    private func watch(
        _ descriptor: CInt,
        _ loop: UVRunLoop,
        _ events: UVRunLoop.DescriptorSource.Events = .readable,
        handler: @escaping () -> Void = {}
    ) throws -> UVRunLoop.DescriptorSource {
        let source = try UVRunLoop.DescriptorSource(descriptor, events: events) { _, _ in
            handler()
        }
        loop.add(source, forMode: .default)
        return source
    }
}

private func makeReader(
    _ descriptor: CInt,
    _ log: EventLog,
    _ name: String
) -> UVRunLoop.DescriptorSource {
    let source = try? UVRunLoop.DescriptorSource(descriptor, events: .readable) { source, events in
        log.note("\(name) \(events.contains(.hangUp) ? "hangUp" : "read") \(drain(descriptor))")
        if events.contains(.hangUp) { source.invalidate() }
    }
    guard let source else { preconditionFailure("The descriptor can be watched.") }
    return source
}

private func closeUnderTheLoop() {
    let log = EventLog()
    onAnotherThread {
        let loop = UVRunLoop.current
        let other = UVRunLoop.Mode("other")
        loop.add(UVRunLoop.Source { _ in }, forMode: other)
        for isPausedFirst in [false, true] {
            for isUsedAgain in [false, true] {
                let pipe = Pipe()
                let ahead = Pipe()
                let source = makeReader(pipe.readEnd, log, "old")
                loop.add(source, forMode: .default)
                loop.run(mode: .default, for: .zero)
                if isPausedFirst {
                    pipe.write("x")
                    loop.run(mode: other, for: .milliseconds(1))
                }
                pipe.closeReadEnd()
                let new = isUsedAgain ? Pipe() : nil
                // A number that is watched anew stands for whatever it stands for then.
                if !isPausedFirst { new?.write("z") }
                let witness = makeReader(ahead.readEnd, log, "witness")
                loop.add(witness, forMode: .default)
                ahead.write("y")
                // On a busy machine one run may be over before it comes to the witness.
                for _ in 0..<1000 where !log.entries.contains("witness read 1") {
                    loop.run(mode: .default, for: .milliseconds(3))
                }
                source.invalidate()
                witness.invalidate()
                precondition(log.entries.contains("witness read 1"), "\(log.entries)")
                precondition(!log.entries.contains("old read 1"), "\(log.entries)")
                loop.run(mode: .default, for: .zero)
                log.clear()
                withExtendedLifetime(new) {}
            }
        }
    }
}

private func closeBeforeTheFirstPoll() {
    let log = EventLog()
    onAnotherThread {
        let loop = UVRunLoop.current
        let pipe = Pipe()
        let source = makeReader(pipe.readEnd, log, "closed")
        loop.add(source, forMode: .default)
        pipe.closeReadEnd()
        withHangGuard { precondition(loop.run(mode: .default, for: nil) == .finished) }
        precondition(log.entries == ["closed hangUp -1"], "\(log.entries)")
        precondition(!source.isValid)
    }
}

private func useANumberAgain() {
    let log = EventLog()
    onAnotherThread {
        let loop = UVRunLoop.current
        loop.add(UVRunLoop.Source { _ in }, forMode: .default)
        for round in 0..<20 {
            let old = Pipe()
            let first = makeReader(old.readEnd, log, "old")
            loop.add(first, forMode: .default)
            loop.run(mode: .default, for: .zero)
            old.write("x")
            first.invalidate()
            let new = Pipe()
            // Closes the number and gives it to the new pipe, before anybody else gets it.
            precondition(dup2(new.readEnd, old.readEnd) == old.readEnd)
            new.write("yz")
            // The loop has nobody for the number: the file that has it now is left alone.
            loop.run(mode: .default, for: .milliseconds(1))
            precondition(log.entries.isEmpty, "\(log.entries)")
            precondition(fcntl(old.readEnd, F_GETFL) & O_NONBLOCK == 0)
            guard round % 2 == 0 else { continue }
            let second = makeReader(old.readEnd, log, "new")
            loop.add(second, forMode: .default)
            loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            precondition(log.entries == ["new read 2"], "\(log.entries)")
            second.invalidate()
            log.clear()
        }
    }
}

/// Has the handler of one ready descriptor put another file under the number of a second one.
private func useANumberAgainInAHandler() {
    let log = EventLog()
    onAnotherThread {
        let loop = UVRunLoop.current
        let pipes = [Pipe(), Pipe()]
        let sources = Box<[UVRunLoop.DescriptorSource]>([])
        let new = Box<Pipe?>(nil)
        for index in [0, 1] {
            let source = try? UVRunLoop.DescriptorSource(
                pipes[index].readEnd,
                events: .readable
            ) { _, _ in
                _ = pipes[index].read()
                log.note("old")
                sources.value[1 - index].invalidate()
                let (pipe, number) = (Pipe(), pipes[1 - index].readEnd)
                precondition(dup2(pipe.readEnd, number) == number)
                loop.add(makeReader(number, log, "new"), forMode: .default)
                new.value = pipe
            }
            guard let source else { preconditionFailure("A pipe can be watched.") }
            sources.value.append(source)
            loop.add(source, forMode: .default)
            pipes[index].write("x")
        }
        loop.run(mode: .default, for: .milliseconds(5))
        precondition(log.entries == ["old"], "\(log.entries)")
        new.value?.write("abc")
        loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
        precondition(log.entries == ["old", "new read 3"], "\(log.entries)")
        sources.value = []
    }
}

private func waitBesideAReadyDescriptor() {
    let log = EventLog()
    onAnotherThread {
        let loop = UVRunLoop.current
        let other = UVRunLoop.Mode("other")
        let pipe = Pipe()
        loop.add(makeReader(pipe.readEnd, log, "read"), forMode: .default)
        loop.add(UVRunLoop.Source { _ in }, forMode: other)
        loop.run(mode: .default, for: .zero)
        pipe.write("x")
        let before = threadProcessorTime()
        loop.run(mode: other, for: .milliseconds(200))
        let used = threadProcessorTime() - before
        precondition(used < 100_000_000, "Waiting took \(used) ns of processor time.")
    }
}
