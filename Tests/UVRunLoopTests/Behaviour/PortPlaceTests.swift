import Glibc
import Testing
import UVRunLoop

/// What ends a port's place in the line, beside being served: a poll in one of its modes that does
/// not find it, whatever modes it leaves or joins afterwards.
@Suite(.timeLimit(.minutes(15))) struct PortPlaceTests {
    private let other = UVRunLoop.Mode("port place, other")
    private let third = UVRunLoop.Mode("port place, third")

    private func serveOnce(_ loop: UVRunLoop, in mode: UVRunLoop.Mode = .default) {
        loop.run(mode: mode, for: .seconds(60), returnAfterSourceHandled: true)
    }

    enum Change: CaseIterable {
        case none, leaves, comesAgain, joins, becomesCommon
    }

    private func make(
        _ change: Change,
        of source: UVRunLoop.DescriptorSource,
        in loop: UVRunLoop
    ) {
        switch change {
        case .none: break
        case .leaves: loop.remove(source, forMode: other)
        case .comesAgain: loop.add(source, forMode: .default)
        case .joins: loop.add(source, forMode: third)
        case .becomesCommon: loop.add(source, forMode: .common)
        }
    }

    /// Its data was read, and a run in another one of its modes has found that.
    @Test(arguments: Change.allCases, DriverKind.allCases)
    func aChangeOfModesDoesNotBringALostPlaceBack(change: Change, kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (first, pipe) = (Pipe(), Pipe())
            let lost = try portReader(pipe, order: 1, noting: "lost", in: log)
            loop.add(try portReader(first, noting: "first", in: log), forMode: .default)
            for mode in [.default, other] { loop.add(lost, forMode: mode) }
            let port = messagePort(in: loop, log)
            // Which comes before it there, so that nobody looks whether it is still ready.
            send(0, to: messagePort(in: loop, log, mode: other))
            for pipe in [first, pipe] { pipe.write("x") }
            serveOnce(loop)
            _ = pipe.read()
            loop.run(mode: other, for: .zero)
            make(change, of: lost, in: loop)
            send(1, to: port)
            pipe.write("x")
            for _ in 1...2 { serveOnce(loop) }
            #expect(log.entries == ["first", "0", "1", "lost"])
        }
    }

    @Test(arguments: Change.allCases, DriverKind.allCases)
    func aChangeOfModesLeavesAPlaceThatIsNotLost(change: Change, kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (first, pipe) = (Pipe(), Pipe())
            let waiting = try portReader(pipe, order: 1, noting: "waiting", in: log)
            loop.add(try portReader(first, noting: "first", in: log), forMode: .default)
            for mode in [.default, other] { loop.add(waiting, forMode: mode) }
            let port = messagePort(in: loop, log)
            for pipe in [first, pipe] { pipe.write("x") }
            serveOnce(loop)
            addFarTimer(to: loop, in: third)
            loop.run(mode: third, for: .zero)
            make(change, of: waiting, in: loop)
            send(1, to: port)
            for _ in 1...2 { serveOnce(loop) }
            #expect(log.entries == ["first", "waiting", "1"])
        }
    }

    /// The mode in which it was found is left before a poll of another one.
    @Test(arguments: DriverKind.allCases)
    func aPlaceIsLostInAModeThatHasNotFoundIt(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (first, pipe) = (Pipe(), Pipe())
            let lost = try portReader(pipe, order: 1, noting: "lost", in: log)
            loop.add(try portReader(first, noting: "first", in: log), forMode: other)
            for mode in [.default, other] { loop.add(lost, forMode: mode) }
            let port = messagePort(in: loop, log)
            for pipe in [first, pipe] { pipe.write("x") }
            serveOnce(loop, in: other)
            loop.remove(lost, forMode: other)
            _ = pipe.read()
            for mode in [other, .default] { loop.run(mode: mode, for: .zero) }
            send(1, to: port)
            pipe.write("x")
            for _ in 1...2 { serveOnce(loop) }
            #expect(log.entries == ["first", "1", "lost"])
        }
    }

    /// A refusal is a new event: it does not bring a place back that a poll has ended.
    @Test(arguments: [false, true], DriverKind.allCases)
    func aRefusedSourceDoesNotComeAtALostPlace(wasFound: Bool, kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (first, pipe) = (Pipe(), Pipe(isReadEndHigh: true))
            let lost = try portReader(pipe, order: 1) { log.note("lost") }
            let twin = try portReader(pipe, order: 2) { log.note("twin") }
            loop.add(try portReader(first, noting: "first", in: log), forMode: .default)
            for mode in [.default, other] { loop.add(lost, forMode: mode) }
            // Which comes before it there, so that nobody looks whether it is still ready.
            send(0, to: messagePort(in: loop, log, mode: other))
            first.write("x")
            if wasFound { pipe.write("x") }
            serveOnce(loop)
            if wasFound { _ = pipe.read() }
            loop.run(mode: other, for: .zero)
            send(1, to: messagePort(in: loop, log))
            pipe.closeReadEnd()
            // The loop watches the descriptor anew, which is closed.
            loop.add(twin, forMode: third)
            for _ in 1...2 { serveOnce(loop) }
            #expect(log.entries == ["first", "0", "1", "lost"])
        }
    }

    /// The poll of a sleep does not watch what joins its mode meanwhile.
    @Test func aSleepThatBeganBeforeASourceJoinedDoesNotEndItsPlace() throws {
        let log = EventLog()
        let (first, pipe) = (Pipe(), Pipe())
        let waiting = try UVRunLoop.DescriptorSource(
            pipe.readEnd,
            events: .readable,
            order: 1,
            sendableHandler: { _, _ in
                log.note("waiting")
                _ = pipe.read()
            }
        )
        let port = UVRunLoop.Port(sendableHandler: { _, _ in log.note("message") })
        try withLoop { loop in
            loop.add(try portReader(first, noting: "first", in: log), forMode: other)
            loop.add(waiting, forMode: other)
            loop.add(port, forMode: .default)
            for pipe in [first, pipe] { pipe.write("x") }
            serveOnce(loop, in: other)
            duringSleep(of: loop) { [loop = UVRunLoop.current] in
                loop.add(waiting, forMode: .default)
                _ = port.send(UVRunLoop.PortMessage(), limit: .zero)
            }
            loop.run(until: log, has: 3)
            #expect(log.entries == ["first", "waiting", "message"])
        }
    }

    /// A source that had stayed ready would have ended the sleep at once.
    @Test func aSleepEndsThePlaceOfASkippedPoll() throws {
        try withLoop(.manual) { loop, log in
            let pipe = Pipe()
            let port = messagePort(in: loop, log)
            let descriptor = try portReader(pipe, noting: "descriptor", in: log) {
                if log.count == 1 { send(1, to: port) }
            }
            loop.add(descriptor, forMode: .default)
            pipe.write("x")
            virtualClock(of: loop)?.after(.seconds(1)) {
                send(2, to: port)
                pipe.write("x")
            }
            loop.run(mode: .default, for: .seconds(2))
            #expect(log.entries == ["descriptor", "1", "2", "descriptor"])
        }
    }

    enum Return: CaseIterable {
        case beforeItsFirstPoll, inItsSleep, afterIt
    }

    /// What was read is not there when a run of another mode begins, and comes again then.
    @Test(arguments: Return.allCases)
    func aNestedRunEndsThePlaceOfASkippedPoll(comes: Return) throws {
        try withLoop(.manual) { loop, log in
            let pipe = Pipe()
            let port = UVRunLoop.Port { port, message in
                log.note("\(message.id)")
                guard message.id == 1 else { return }
                let comeAgain = { @Sendable in
                    send(2, to: port)
                    pipe.write("x")
                }
                addFarTimer(to: loop, in: other)
                switch comes {
                case .beforeItsFirstPoll: loop.perform(inModes: [other], comeAgain)
                case .inItsSleep: virtualClock(of: loop)?.after(.seconds(1), comeAgain)
                case .afterIt: break
                }
                loop.run(mode: other, for: comes == .inItsSleep ? .seconds(2) : .zero)
                if comes == .afterIt { comeAgain() }
            }
            loop.add(port, forMode: .default)
            let descriptor = try portReader(pipe, noting: "descriptor", in: log) {
                if log.count == 1 { send(1, to: port) } else { loop.stop() }
            }
            loop.add(descriptor, forMode: .default)
            pipe.write("x")
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["descriptor", "1", "2", "descriptor"])
        }
    }

    /// What was read is not there when the run ends.
    @Test(arguments: [false, true])
    func theEndOfARunEndsThePlaceOfASkippedPoll(runsOther: Bool) throws {
        try withLoop(.manual) { loop, log in
            let pipe = Pipe()
            let port = messagePort(in: loop, log) { if $0 == 1 { loop.stop() } }
            let descriptor = try portReader(pipe, noting: "descriptor", in: log) {
                if log.count == 1 { send(1, to: port) }
            }
            loop.add(descriptor, forMode: .default)
            addFarTimer(to: loop, in: other)
            pipe.write("x")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            if runsOther { loop.run(mode: other, for: .zero) }
            send(2, to: port)
            pipe.write("x")
            for _ in 1...2 { serveOnce(loop) }
            #expect(log.entries == ["descriptor", "1", "2", "descriptor"])
        }
    }

    /// libuv stops to watch a descriptor that has an error, when it finds that in a sleep.
    @Test(arguments: [false, true])
    func aSourceThatStaysReadyWithAnErrorKeepsItsPlace(runsOther: Bool) throws {
        try withLoop(.uv) { loop, log in
            addFarTimer(to: loop, in: other)
            let (end, peer) = socketPair()
            let port = messagePort(in: loop, log) { id in
                guard id == 1 else { return }
                if runsOther { loop.run(mode: other, for: .zero) }
                loop.stop()
            }
            let source = try UVRunLoop.DescriptorSource(end, events: .readable) { _, events in
                log.note(events.contains(.hangUp) ? "hang-up" : "data")
                guard drain(end) > 0 else { return }
                for id in [1, 2] as [Int32] { send(id, to: port) }
            }
            loop.add(source, forMode: .default)
            // What the peer has not read when it closes resets the connection.
            write(end, "x", 1)
            write(peer, "x", 1)
            closePeer(peer, of: end)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            for _ in 1...2 { serveOnce(loop) }
            #expect(log.entries == ["data", "1", "hang-up", "2"])
            source.invalidate()
            close(end)
        }
    }

    @Test func aSleepEndsAPlaceThatARunInAnotherModeHasGiven() throws {
        try withLoop(.manual) { loop, log in
            let (first, pipe) = (Pipe(), Pipe())
            let descriptor = try portReader(pipe, order: 1, noting: "descriptor", in: log)
            loop.add(
                try portReader(first, noting: "first", in: log) { _ = pipe.read() },
                forMode: .default
            )
            for mode in [.default, other] { loop.add(descriptor, forMode: mode) }
            let port = messagePort(in: loop, log, mode: other)
            for pipe in [first, pipe] { pipe.write("x") }
            serveOnce(loop)
            virtualClock(of: loop)?.after(.seconds(1)) {
                send(1, to: port)
                pipe.write("x")
            }
            loop.run(mode: other, for: .seconds(2))
            #expect(log.entries == ["first", "1", "descriptor"])
        }
    }

    /// The polls of that mode have found nothing since.
    @Test func aPollEndsThePlaceOfASourceThatHasLeftItsMode() throws {
        try withLoop(.manual) { loop, log in
            let (pipe, source) = (Pipe(), Box<UVRunLoop.DescriptorSource?>(nil))
            let later = messagePort(in: loop, log, mode: other)
            let port = UVRunLoop.Port { port, _ in
                log.note("1")
                if let source = source.value { loop.remove(source, forMode: .default) }
                port.invalidate()
            }
            loop.add(port, forMode: .default)
            let served = try portReader(pipe, noting: "descriptor", in: log) {
                if log.count == 1 { send(1, to: port) }
            }
            source.value = served
            for mode in [.default, other] { loop.add(served, forMode: mode) }
            addTimer(to: loop, after: .seconds(1)) {
                send(2, to: later)
                pipe.write("x")
                loop.stop()
            }
            pipe.write("x")
            loop.run(mode: .default, for: .seconds(60))
            for _ in 1...2 { serveOnce(loop, in: other) }
            #expect(log.entries == ["descriptor", "1", "2", "descriptor"])
            source.value = nil
        }
    }

    /// A poll would have found it ready again if it had stayed ready, but it has not.
    @Test(arguments: DriverKind.allCases)
    func aServedSourceThatLeavesTheModeIsNotServedForNothingByAnOuterRun(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (pipe, source) = (Pipe(), Box<UVRunLoop.DescriptorSource?>(nil))
            let port = messagePort(in: loop, log) { id in
                guard id == 1, let source = source.value else { return }
                loop.remove(source, forMode: .default)
                loop.stop()
            }
            let served = try portReader(pipe, noting: "descriptor", in: log) {
                if log.count == 1 { for id in [1, 2] as [Int32] { send(id, to: port) } }
            }
            source.value = served
            for mode in [.default, other] { loop.add(served, forMode: mode) }
            addFarTimer(to: loop, in: other)
            let observer = UVRunLoop.Observer(activities: .afterWaiting, repeats: false) { _, _ in
                pipe.write("x")
                loop.run(mode: .default, for: .seconds(60))
            }
            loop.add(observer, forMode: other)
            loop.run(mode: other, for: .milliseconds(1))
            #expect(log.entries == ["descriptor", "1"])
            pipe.write("x")
            serveOnce(loop, in: other)
            #expect(log.entries == ["descriptor", "1", "descriptor"])
            source.value = nil
        }
    }

    /// A poll that makes up for skipped ones does not tell of a source that was not served.
    @Test func aFoundSourceKeepsItsPlaceWhenItsDataComesAgainBeforeTheNextPoll() throws {
        try withLoop(.manual) { loop, log in
            let pipes = (0..<3).map { _ in Pipe() }
            let port = messagePort(in: loop, log) { if $0 == 2 { loop.stop() } }
            let first = try portReader(pipes[0], noting: "first", in: log) { send(1, to: port) }
            let second = try portReader(pipes[1], order: 1, noting: "second", in: log) {
                _ = pipes[2].read()
                loop.performLocally(inModes: [other]) {
                    send(2, to: port)
                    pipes[2].write("x")
                }
                loop.run(mode: other, for: .zero)
            }
            let third = try portReader(pipes[2], order: 2, noting: "third", in: log)
            for (source, pipe) in zip([first, second, third], pipes) {
                loop.add(source, forMode: .default)
                pipe.write("x")
            }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["first", "second", "third", "1", "2"])
        }
    }

    /// What a poll has not found any more has no place, and what is ready since is left to the next.
    @Test func aPollThatMakesUpForSkippedOnesDoesNotFindASourceThatWasNotServed() throws {
        try withLoop(.manual) { loop, log in
            let pipes = (0..<4).map { _ in Pipe() }
            let port = messagePort(in: loop, log)
            let added = UVRunLoop.Port { _, _ in }
            let bodies: [() -> Void] = [
                {
                    if log.count > 1 { return }
                    _ = pipes[3].read()
                    // The next pass polls.
                    loop.add(added, forMode: .default)
                },
                { if log.count > 3 { _ = pipes[1].read() } },
                {
                    pipes[3].write("x")
                    loop.performLocally(inModes: [other]) { send(1, to: port) }
                    loop.run(mode: other, for: .zero)
                },
                { loop.stop() },
            ]
            for (index, body) in bodies.enumerated() {
                let source = try portReader(pipes[index], order: index) {
                    log.note("source \(index)")
                    if index != 1 { _ = pipes[index].read() }
                    body()
                }
                loop.add(source, forMode: .default)
                pipes[index].write("x")
            }
            loop.run(mode: .default, for: .seconds(60))
            let expected = ["source 0", "source 1", "source 2", "source 1", "1", "source 3"]
            #expect(log.entries == expected)
        }
    }
}
