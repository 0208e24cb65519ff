import Glibc
import Testing
import UVRunLoop

/// The result of a poll is neither lost nor forgotten, whatever is polled before it is served.
@Suite(.timeLimit(.minutes(15))) struct PortPollTests {
    // MARK: Nested runs

    /// Runs a pass that a pipe wakes; another mode is run before the pipe is served.
    private func servePipe(
        _ kind: DriverKind,
        alsoIn mode: UVRunLoop.Mode? = nil,
        preparing prepare: (UVRunLoop, EventLog) -> Void = { _, _ in },
        whileAwake nested: @escaping (UVRunLoop, EventLog) -> Void
    ) throws -> [String] {
        try withLoop(kind) { loop, log in
            prepare(loop, log)
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("served")
                _ = pipe.read()
            }
            for mode in [.default, mode].compactMap(\.self) { loop.add(source, forMode: mode) }
            let before = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                pipe.write("x")
            }
            let after = UVRunLoop.Observer(activities: .afterWaiting, repeats: false) { _, _ in
                nested(loop, log)
            }
            loop.add(before, forMode: .default)
            loop.add(after, forMode: .default)
            let limit = Duration.milliseconds(10)
            log.note("\(loop.run(mode: .default, for: limit, returnAfterSourceHandled: true))")
            source.invalidate()
            return log.entries
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theEventThatEndedASleepIsServedAfterARunInAnotherMode(kind: DriverKind) throws {
        let entries = try servePipe(kind) { loop, log in
            let inner = UVRunLoop.Mode("inner of a poll")
            loop.add(UVRunLoop.Timer(after: .seconds(3600)) { _ in }, forMode: inner)
            // Past the outer run's limit.
            log.note("\(loop.run(mode: inner, for: .milliseconds(20)))")
        }
        #expect(entries == ["timedOut", "served", "handledSource"])
    }

    @Test(arguments: DriverKind.allCases)
    func theEventThatANestedRunFindsTooAndDoesNotServeIsServedAfterIt(kind: DriverKind) throws {
        let inner = UVRunLoop.Mode("inner with a message")
        let entries = try servePipe(kind, alsoIn: inner) { loop, log in
            let port = UVRunLoop.Port { _, _ in log.note("message") }
            loop.add(port, forMode: inner)
            #expect(port.send(UVRunLoop.PortMessage(id: 1), limit: .zero))
        } whileAwake: { loop, log in
            // One pass with one event: the message, which came first.
            log.note("\(loop.run(mode: inner, for: .zero))")
            // Past the outer run's limit, so that it makes no further pass.
            letTimePass(.milliseconds(20), loop)
        }
        #expect(entries == ["message", "timedOut", "served", "handledSource"])
    }

    // MARK: Other modes

    /// A port that is ready in a mode that never runs must not decide which polls count.
    @Test(arguments: [false, true])
    func aPortThatIsReadyInAnotherModeChangesNoOrder(isThere: Bool) throws {
        try withLoop(.manual) { loop, log in
            let pipe = Pipe()
            if isThere {
                let other = UVRunLoop.Port { _, _ in log.note("other") }
                loop.add(other, forMode: UVRunLoop.Mode("never runs"))
                #expect(other.send(UVRunLoop.PortMessage(), limit: .zero))
            }
            let port = UVRunLoop.Port { port, message in
                log.note("message \(message.id)")
                guard message.id < 3 else { return loop.stop() }
                #expect(port.send(UVRunLoop.PortMessage(id: message.id + 1), limit: .zero))
            }
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                _ = pipe.read()
                log.note("descriptor")
            }
            loop.add(port, forMode: .default)
            loop.add(source, forMode: .default)
            // Of all activities: so no port is served without a pass.
            loop.add(UVRunLoop.Observer(activities: .all) { _, _ in }, forMode: .default)
            let write = UVRunLoop.Timer(after: .milliseconds(5)) { _ in pipe.write("x") }
            let both = UVRunLoop.Timer(after: .milliseconds(10)) { _ in
                #expect(port.send(UVRunLoop.PortMessage(id: 1), limit: .zero))
                pipe.write("x")
            }
            loop.add(write, forMode: .default)
            loop.add(both, forMode: .default)
            // Not one that returns after a source, which skips no poll.
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            // A poll has found nothing since the descriptor was served: it has not stayed ready,
            // and what becomes ready while polls are skipped may be found later.
            #expect(log.entries == ["descriptor", "message 1", "message 2", "message 3"])
            source.invalidate()
        }
    }

    // MARK: Skipped polls

    /// The descriptor has stayed ready, and comes in the pass of the port for which a poll was skipped.
    ///
    /// The port goes before it is served, with an observer whose captures invalidate it.
    @Test(arguments: DriverKind.allCases)
    func aSourceIsServedInThePassInWhichTheReadyPortBeforeItGoes(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (pipe, observer) = (Pipe(), Box<UVRunLoop.Observer?>(nil))
            let port = UVRunLoop.Port { _, _ in log.note("message") }
            observer.value = lastObserver { port.invalidate() }
            if let observer = observer.value { loop.add(observer, forMode: .default) }
            let signalled = UVRunLoop.Source { _ in
                log.note("signalled")
                if let observer = observer.value.take() { loop.remove(observer, forMode: .default) }
            }
            let descriptor = try portReader(pipe) {
                log.note("descriptor")
                if log.count > 3 { return loop.stop() }
                send(1, to: port)
                signalled.signal()
            }
            for source in [port, descriptor] as [any UVRunLoop.PortSource] {
                loop.add(source, forMode: .default)
            }
            loop.add(signalled, forMode: .default)
            log.observe(loop, .beforeTimers, order: 1)
            pipe.write("x")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            let first = ["beforeTimers", "descriptor"]
            #expect(log.entries == first + ["beforeTimers", "signalled", "descriptor"])
            descriptor.invalidate()
        }
    }

    @Test func anErrorThatARunInAnEmptyModeFindsIsToldInItsMode() throws {
        try withLoop { loop in
            let empty = UVRunLoop.Mode("nothing is in it")
            let (pipe, other) = (Pipe(), Pipe())
            let events = Guarded<[UVRunLoop.DescriptorSource.Events]>([])
            let source = try UVRunLoop.DescriptorSource(pipe.writeEnd, events: .readable) {
                (_: UVRunLoop.DescriptorSource, found) in events.withLock { $0.append(found) }
            }
            let closed = try UVRunLoop.DescriptorSource(other.readEnd, events: .readable) { _, _ in
            }
            loop.add(source, forMode: .default)
            loop.add(closed, forMode: .default)
            loop.run(mode: .default, for: .zero)
            // libuv has a handle to free, which the run in the empty mode does.
            closed.invalidate()
            pipe.closeReadEnd()
            #expect(loop.run(mode: empty, for: .zero) == .finished)
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(events.withLock { $0 } == [[.readable, .hangUp]])
            source.invalidate()
        }
    }

    @Test(arguments: [false, true])
    func aHangUpBehindDataIsToldInTheFirstPass(byLibuv: Bool) throws {
        try withLoop { loop in
            let inner = UVRunLoop.Mode("waits for a hang-up")
            let (pipe, other) = (Pipe(), Pipe())
            let log = EventLog()
            let reader = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
            let waiter = try UVRunLoop.DescriptorSource(pipe.readEnd, events: []) { _, events in
                log.note(events == .hangUp ? "hang-up" : "\(events)")
            }
            let closed = try UVRunLoop.DescriptorSource(other.readEnd, events: .readable) { _, _ in
            }
            loop.add(reader, forMode: .default)
            loop.add(closed, forMode: .default)
            loop.add(waiter, forMode: inner)
            for mode in [.default, inner, .default] { loop.run(mode: mode, for: .zero) }
            pipe.write("x")
            pipe.closeWriteEnd()
            if byLibuv { closed.invalidate() }
            let result = loop.run(mode: inner, for: .zero, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["hang-up"])
            for source in [reader, waiter, closed] { source.invalidate() }
        }
    }

    // MARK: More than one poll finds

    @Test func portsAreServedInTurnWhenMoreAreReadyThanOnePollFinds() async {
        await #expect(processExitsWith: .success) { try serveManyReadyPortsOnceEach() }
    }

    /// libuv, which frees the handles of invalid ones, repeats a full poll 48 times.
    @Test func onesThatAreInvalidatedAmongManyReadyOnesMakeFewPollsLong() async {
        await #expect(processExitsWith: .success) { try invalidateSomeOfManyReadyPorts() }
    }
}

/// Pipes that are ready for ever: nobody reads them.
private func readyPipes(_ count: Int) -> [Pipe] {
    setDescriptorLimit(2 * count + 200)
    let pipes = (0..<count).map { _ in Pipe() }
    for pipe in pipes { pipe.write("x") }
    return pipes
}

private func serveManyReadyPortsOnceEach() throws {
    let count = 1_200
    let loop = UVRunLoop.current
    var served: [CInt] = []
    let pipes = readyPipes(count)
    for pipe in pipes {
        let number = pipe.readEnd
        let source = try UVRunLoop.DescriptorSource(number, events: .readable) { _, _ in
            served.append(number)
            if served.count == 2 * count { loop.stop() }
        }
        loop.add(source, forMode: .default)
    }
    loop.run()
    precondition(served.count == 2 * count)
    precondition(Set(served[..<count]).count == count, "Not all were served in the first round.")
    precondition(
        Array(served[..<count]) == Array(served[count...]),
        "The second round has another order."
    )
    withExtendedLifetime(pipes) {}
}

private func invalidateSomeOfManyReadyPorts() throws {
    let count = 1_400
    let loop = UVRunLoop.current
    let pipes = readyPipes(count)
    let sources = try pipes.map { pipe in
        try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
    }
    for source in sources { loop.add(source, forMode: .default) }
    let polls = Counter()
    intercept([.epollWait, .epollWaitWithMask]) {
        polls.add()
        return 0
    }
    loop.run(mode: .default, for: .zero)
    let pollsOfPasses = sources[..<300].map { source in
        source.invalidate()
        let before = polls.value
        loop.run(mode: .default, for: .zero)
        return polls.value - before
    }
    let long = pollsOfPasses.filter { $0 > 10 }
    precondition(long.count == 1, "\(pollsOfPasses)")
    withExtendedLifetime(pipes) {}
}

/// An observer that does something when nothing refers to it any more.
private func lastObserver(_ act: @escaping @Sendable () -> Void) -> UVRunLoop.Observer {
    let end = Farewell(act)
    return UVRunLoop.Observer(activities: .exit, sendableHandler: { _, _ in _ = end })
}
