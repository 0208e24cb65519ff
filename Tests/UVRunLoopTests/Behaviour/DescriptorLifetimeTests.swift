import Glibc
import Testing
import UVRunLoop

/// Descriptor sources that come and go, and the descriptors under them.
@Suite(.timeLimit(.minutes(15))) struct DescriptorLifetimeTests {
    @Test func aRegularFileIsRefused() {
        let file = open("/proc/self/exe", O_RDONLY)
        defer { close(file) }
        #expect(file >= 0)
        #expect(throws: (any Error).self) {
            try UVRunLoop.DescriptorSource(file, events: .readable) { _, _ in }
        }
    }

    @Test func aDescriptorThatIsNotOpenIsRefused() {
        for descriptor: CInt in [-1, .max] {
            #expect(throws: (any Error).self) {
                try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in }
            }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDescriptorSourceKeepsItsModeAliveUntilAnotherThreadRemovesIt(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try reader(pipe, log, as: "read")
            loop.add(source, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            let isDone = elsewhere(after: .milliseconds(5), loop) {
                loop.remove(source, forMode: .default)
                log.note("\(loop.contains(source, forMode: .default))")
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            isDone.wait()
            #expect(source.isValid)
            #expect(log.entries == ["false"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func invalidationLeavesTheDescriptorToItsOwner(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try reader(pipe, log, as: "read")
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .zero)
            pipe.write("x")
            source.invalidate()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            loop.add(source, forMode: .default)
            #expect(!loop.contains(source, forMode: .default))
            #expect(pipe.read() == "x")
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anEventNotedForASourceThatWasRemovedIsNotDelivered(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = [Pipe(), Pipe()]
            let sources = Box<[UVRunLoop.DescriptorSource]>([])
            for index in [0, 1] {
                let source = try UVRunLoop.DescriptorSource(
                    pipes[index].readEnd,
                    events: .readable
                ) { _, _ in
                    log.note("read \(pipes[index].read() ?? "nothing")")
                    loop.remove(sources.value[1 - index], forMode: .default)
                }
                sources.value.append(source)
                loop.add(source, forMode: .default)
                pipes[index].write("x")
            }
            loop.run(mode: .default, for: .milliseconds(3))
            #expect(log.entries == ["read x"])

            for source in sources.value { loop.add(source, forMode: .default) }
            loop.run(mode: .default, for: .milliseconds(3))
            #expect(log.entries == ["read x", "read x"])
            sources.value = []
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anEventNotedForASourceThatWasInvalidatedIsNotDelivered(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = [Pipe(), Pipe()]
            let sources = Box<[UVRunLoop.DescriptorSource]>([])
            for index in [0, 1] {
                let source = try UVRunLoop.DescriptorSource(
                    pipes[index].readEnd,
                    events: .readable
                ) { _, _ in
                    log.note("read \(pipes[index].read() ?? "nothing")")
                    sources.value[1 - index].invalidate()
                }
                sources.value.append(source)
                loop.add(source, forMode: .default)
                pipes[index].write("x")
            }
            loop.run(mode: .default, for: .milliseconds(3))
            #expect(log.entries == ["read x"])
            sources.value = []
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anEventNotedForASourceThatWasAddedAnewIsNotDelivered(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = [Pipe(), Pipe()]
            let sources = Box<[UVRunLoop.DescriptorSource]>([])
            for index in [0, 1] {
                let source = try UVRunLoop.DescriptorSource(
                    pipes[index].readEnd,
                    events: .readable
                ) { _, _ in
                    log.note("read \(pipes[index].read() ?? "nothing")")
                    _ = pipes[1 - index].read()
                    loop.remove(sources.value[1 - index], forMode: .default)
                    loop.add(sources.value[1 - index], forMode: .default)
                }
                sources.value.append(source)
                loop.add(source, forMode: .default)
                pipes[index].write("x")
            }
            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .timedOut)
            #expect(log.entries == ["read x"])
            sources.value = []
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aReadySourceAddedByAnotherThreadIsServedWithoutAnotherNotification(
        kind: DriverKind
    ) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            pipe.write("x")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            let source = try UVRunLoop.DescriptorSource(
                pipe.readEnd,
                events: .readable,
                sendableHandler: { _, _ in log.note("read \(pipe.read() ?? "nothing")") }
            )
            elsewhere(after: .milliseconds(30), loop) { loop.add(source, forMode: .default) }
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            let story = [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting",
                "read x", "exit",
            ]
            #expect(log.entries == story)
        }
    }

    /// libuv removes such a descriptor from its epoll set by itself.
    @Test func aDescriptorWithAnErrorGetsItsFlagBack() throws {
        try withLoop { loop in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.writeEnd, events: []) { _, _ in
                loop.stop()
            }
            loop.add(source, forMode: .default)
            let before = flags(of: pipe.writeEnd)
            whenAsleep(loop) { pipe.closeReadEnd() }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            source.invalidate()
            #expect(flags(of: pipe.writeEnd) == before)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theBlockingFlagIsPutBackWhenTheLastSourceIsGone(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            for wanted in [flags(of: pipe.readEnd) & ~O_NONBLOCK, O_NONBLOCK] {
                #expect(fcntl(pipe.readEnd, F_SETFL, wanted) == 0)
                let sources = [try reader(pipe, log, as: "A"), try reader(pipe, log, as: "B")]
                for source in sources { loop.add(source, forMode: .default) }
                loop.run(mode: .default, for: .zero)
                for source in sources { source.invalidate() }
                loop.run(mode: .default, for: .zero)
                #expect(isNonBlocking(pipe.readEnd) == (wanted & O_NONBLOCK != 0))
            }
            #expect(log.entries == [])
        }
    }

    /// The handler may go on to read until there is no more.
    @Test(arguments: DriverKind.allCases, [true, false])
    func aSourceThatIsAddedAgainDuringItsCallDoesNotBlock(
        kind: DriverKind,
        byAnotherThread: Bool
    ) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            #expect(fcntl(pipe.readEnd, F_SETFL, flags(of: pipe.readEnd) & ~O_NONBLOCK) == 0)
            let again = { @Sendable (source: UVRunLoop.DescriptorSource) in
                loop.remove(source, forMode: .default)
                loop.add(source, forMode: .default)
            }
            let source = try UVRunLoop.DescriptorSource(
                pipe.readEnd,
                events: .readable,
                sendableHandler: { source, _ in
                    if byAnotherThread {
                        startThread { again(source) }.join()
                    } else {
                        again(source)
                    }
                    log.note("is non-blocking: \(isNonBlocking(pipe.readEnd))")
                    drain(pipe.readEnd)
                }
            )
            loop.add(source, forMode: .default)
            for _ in 0..<2 {
                pipe.write("x")
                loop.run(mode: .default, for: .zero)
            }
            #expect(log.entries == ["is non-blocking: true", "is non-blocking: true"])
            source.invalidate()
            #expect(!isNonBlocking(pipe.readEnd))
        }
    }

    /// It is not watched again before it leaves.
    @Test(arguments: DriverKind.allCases, [true, false])
    func aSourceThatIsAddedAgainDuringItsCallAndLeavesIsBlockingAgain(
        kind: DriverKind,
        byTheEndOfItsLoop: Bool
    ) throws {
        let pipe = Pipe()
        #expect(fcntl(pipe.readEnd, F_SETFL, flags(of: pipe.readEnd) & ~O_NONBLOCK) == 0)
        try withLoop(kind) { loop, _ in
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                source,
                _ in
                loop.remove(source, forMode: .default)
                loop.add(source, forMode: .default)
                if !byTheEndOfItsLoop { loop.remove(source, forMode: .default) }
            }
            loop.add(source, forMode: .default)
            pipe.write("x")
            loop.run(mode: .default, for: .zero)
            #expect(isNonBlocking(pipe.readEnd) == byTheEndOfItsLoop)
        }
        #expect(!isNonBlocking(pipe.readEnd))
    }

    @Test(arguments: DriverKind.allCases)
    func theBlockingFlagIsPutBackWhenTheLoopIsTornDown(kind: DriverKind) throws {
        let pipe = Pipe()
        #expect(fcntl(pipe.readEnd, F_SETFL, flags(of: pipe.readEnd) & ~O_NONBLOCK) == 0)
        try withLoop(kind) { loop, log in
            loop.add(try reader(pipe, log, as: "read"), forMode: .default)
            loop.run(mode: .default, for: .zero)
        }
        #expect(!isNonBlocking(pipe.readEnd))
    }

    @Test(arguments: DriverKind.allCases)
    func aNewOwnerOfADescriptorNumberIsNotMistakenForTheOldOne(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let old = Pipe()
            let new = Pipe()
            let first = try reader(old, log, as: "first")
            loop.add(first, forMode: .default)
            old.write("x")
            loop.run(mode: .default, for: .zero)
            first.invalidate()

            // The number now stands for the other pipe; the old one's read end is closed.
            #expect(dup2(new.readEnd, old.readEnd) == old.readEnd)
            loop.add(try reader(old, log, as: "second"), forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            #expect(log.entries == ["first x"])
            new.write("y")
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(log.entries == ["first x", "second y"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDescriptorClosedUnderItsSourceDoesNotStopTheLoop(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let pipe = Pipe()
            let quiet = Pipe()
            let source = try reader(pipe, log, as: "read")
            loop.add(source, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            loop.run(mode: .default, for: .zero)
            pipe.write("x")
            // Ready for another mode only: the descriptor is put aside here and wanted again later.
            #expect(loop.run(mode: other, for: .milliseconds(3)) == .timedOut)
            #expect(dup2(quiet.readEnd, pipe.readEnd) == pipe.readEnd)

            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in
                log.note("timer")
                loop.stop()
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries.contains("timer"))
            source.invalidate()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
    }
}

private func flags(of descriptor: CInt) -> CInt {
    fcntl(descriptor, F_GETFL)
}
