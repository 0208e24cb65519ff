import Testing
import UVRunLoop

/// Neither ports, dates, blocks nor custom sources can starve one another.
@Suite(.timeLimit(.minutes(15))) struct PortFairnessTests {
    @Test(arguments: DriverKind.allCases)
    func aReadyPortComesFirstAndTheDueTimerInTheNextPass(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            loop.add(try hotPort(pipe, log, as: "port"), forMode: .default)
            loop.add(UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }, forMode: .default)
            letTimePass(.milliseconds(1), loop)
            for _ in 1...4 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["port", "timer", "port", "port"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortThatIsAlwaysReadyAndATimerThatIsAlwaysDueTakeTurns(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            loop.add(try hotPort(pipe, log, as: "port"), forMode: .default)
            expectTurnsWithATimer(loop, log)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRunNestedInAPortsHandlerFiresTheDueTimerFirstAndSoDoesTheNextPass(
        kind: DriverKind
    ) throws {
        try withLoop(kind) { loop, log in
            let (first, second) = (Pipe(), Pipe())
            first.write("x")
            let nesting = try UVRunLoop.DescriptorSource(first.readEnd, events: .readable) {
                source,
                _ in
                source.invalidate()
                log.note("nesting")
                addTimer(to: loop, after: .zero) { log.note("timer in it") }
                loop.run(mode: .default, for: .zero)
                addTimer(to: loop, after: .zero) { log.note("timer after it") }
            }
            loop.add(nesting, forMode: .default)
            loop.add(try hotPort(second, log, as: "port"), forMode: .default)
            for _ in 1...3 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["nesting", "timer in it", "timer after it", "port"])
        }
    }

    /// Timers come first after a pass of another mode that has served a port, 64 times in a row at
    /// most; a port that is served meanwhile while no timer is due begins a new row.
    @Test(arguments: DriverKind.allCases)
    func aPortThatIsServedAloneEndsARowOfPassesInWhichTimersComeFirst(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (here, elsewhere) = (Pipe(), Pipe())
            let other = UVRunLoop.Mode("port fairness, other")
            loop.add(try hotPort(here, log, as: "port"), forMode: .default)
            loop.add(try hotPort(elsewhere, EventLog(), as: ""), forMode: other)
            func runBoth() {
                loop.run(mode: other, for: .zero)
                addTimer(to: loop, after: .zero) { log.note("timer") }
                loop.run(mode: .default, for: .zero)
            }
            for _ in 1...40 { runBoth() }
            loop.run(mode: .default, for: .zero)
            for _ in 1...64 { runBoth() }
            #expect(
                log.entries == Array(repeating: "timer", count: 40) + ["port"]
                    + Array(repeating: "timer", count: 64)
            )
            runBoth()
            #expect(log.entries.last == "port")
        }
    }

    /// For example a socket that sends what is queued for a fast reader.
    @Test(arguments: DriverKind.allCases)
    func aPortWithNothingToTellTakesTurnsWithTimersToo(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = SilentPort(log)
            loop.add(port, forMode: .default)
            port.link.announce()
            expectTurnsWithATimer(loop, log)
            UVRunLoop.invalidate(port)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func portAndTimerTakeTurnsWithinOneRunToo(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("port")
                letTimePass(.milliseconds(1), loop)
                withExtendedLifetime(pipe) {}
            }
            pipe.write("x")
            loop.add(source, forMode: .default)
            let timer = UVRunLoop.Timer(after: .zero, interval: .microseconds(200)) { _ in
                log.note("timer")
                letTimePass(.milliseconds(1), loop)
                if log.entries.count == 6 { loop.stop() }
            }
            loop.add(timer, forMode: .default)
            letTimePass(.milliseconds(1), loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["port", "timer", "port", "timer", "port", "timer"])
        }
    }

    /// What comes first is counted only while the other has no pass at all.
    @Test(arguments: [true, false])
    func theTurnIsKeptHoweverOftenItIsTheSameOnes(isPortAlone: Bool) throws {
        try withLoop(.manual) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("port")
                _ = pipe.read()
            }
            loop.add(source, forMode: .default)
            let timer = UVRunLoop.Timer(after: .seconds(1), interval: .seconds(1)) { _ in
                log.note("timer")
            }
            loop.add(timer, forMode: .default)
            for _ in 1...200 {
                if isPortAlone {
                    pipe.write("x")
                    loop.run(mode: .default, for: .zero)
                }
                letTimePass(.seconds(1), loop)
                pipe.write("x")
                for _ in 1...2 { loop.run(mode: .default, for: .zero) }
            }
            let turns = isPortAlone ? ["port", "timer", "port"] : ["port", "timer"]
            let isKept = log.entries == (1...200).flatMap { _ in turns }
            #expect(isKept)
        }
    }

    /// The pass before each pass of the mode is one of another mode, which serves no port.
    @Test(arguments: DriverKind.allCases)
    func aPortWhosePassesHaveNestedRunsDoesNotStarveTimers(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode("port fairness, other")
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            let pipe = Pipe()
            pipe.write("x")
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("port")
                if log.count == 1_000 { loop.stop() }
                loop.performLocally { loop.run(mode: other, for: .zero) }
                withExtendedLifetime(pipe) {}
            }
            loop.add(source, forMode: .default)
            expectTimer(loop, log, withinPasses: 66)
        }
    }

    /// The pass before each pass of the mode is one of another mode, which serves a port.
    @Test(arguments: DriverKind.allCases)
    func timersWhosePassesHaveNestedRunsDoNotStarveAPort(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode("port fairness, other")
            loop.add(try hotPort(Pipe(), EventLog(), as: ""), forMode: other)
            loop.add(try hotPort(Pipe(), log, as: "port"), forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeSources) { _, _ in
                loop.run(mode: other, for: .zero)
                // At each pass the timer is due.
                letTimePass(.milliseconds(1), loop)
            }
            loop.add(observer, forMode: .default)
            let timer = UVRunLoop.Timer(after: .zero, interval: .microseconds(200)) { _ in
                log.note("timer")
            }
            loop.add(timer, forMode: .default)
            for _ in 1...66 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries.count { $0 == "port" } == 1)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func portsAreServedInTurn(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            for name in ["A", "B", "C"] {
                loop.add(try hotPort(Pipe(), log, as: name), forMode: .default)
            }
            for _ in 1...9 { loop.run(mode: .default, for: .zero) }
            let firstRound = Array(log.entries.prefix(3))
            #expect(firstRound.sorted() == ["A", "B", "C"])
            #expect(log.entries == firstRound + firstRound + firstRound)
        }
    }

    /// Within one run, which polls less often than it serves.
    @Test(arguments: DriverKind.allCases, [1, 3])
    func descriptorsAndAnInProcessPortThatAreAlwaysReadyTakeTurns(
        kind: DriverKind,
        descriptors: Int
    ) throws {
        try withLoop(kind) { loop, log in
            let names = ["A", "B", "C"].prefix(descriptors)
            for name in names { loop.add(try hotPort(Pipe(), log, as: name), forMode: .default) }
            let port = UVRunLoop.Port { port, _ in
                log.note("port")
                _ = port.send(.init(id: 1))
                if log.entries.count > 100 { loop.stop() }
            }
            loop.add(port, forMode: .default)
            _ = port.send(.init(id: 1))
            loop.run(mode: .default, for: .seconds(60))
            let counts = (names + ["port"]).map { name in log.entries.count { $0 == name } }
            let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
            #expect(most - least <= 1, "\(counts)")
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortThatIsAlwaysReadyDoesNotStarveALateOne(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let late = Pipe()
            loop.add(try hotPort(Pipe(), log, as: "hot"), forMode: .default)
            let source = try UVRunLoop.DescriptorSource(late.readEnd, events: .readable) { _, _ in
                log.note("late \(late.read() ?? "nothing")")
            }
            loop.add(source, forMode: .default)
            for _ in 1...3 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["hot", "hot", "hot"])
            log.clear()
            late.write("x")
            for _ in 1...3 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries.sorted() == ["hot", "hot", "late x"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksAndCustomSourcesRunInEveryPassBesideAPortThatIsAlwaysReady(
        kind: DriverKind
    ) throws {
        try withLoop(kind) { loop, log in
            loop.add(try hotPort(Pipe(), log, as: "port"), forMode: .default)
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .default)
            for _ in 1...2 {
                source.signal()
                loop.performLocally { log.note("block") }
                loop.run(mode: .default, for: .zero)
            }
            let pass = ["block", "source", "port"]
            #expect(log.entries == pass + pass)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortIsServedBesideACustomSourceThatIsAlwaysSignalled(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                log.note("source")
                source.signal()
            }
            loop.add(source, forMode: .default)
            source.signal()
            loop.add(try hotPort(Pipe(), log, as: "port"), forMode: .default)
            for _ in 1...3 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["source", "port", "source", "port", "source", "port"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDueTimerFiresBesideACustomSourceThatIsAlwaysSignalled(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                log.note("source")
                source.signal()
            }
            loop.add(source, forMode: .default)
            source.signal()
            loop.add(UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["source", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortThatIsAlwaysReadyDoesNotHoldUpTheLimit(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            pipe.write("x")
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("port")
                letTimePass(.milliseconds(1), loop)
                withExtendedLifetime(pipe) {}
            }
            loop.add(source, forMode: .default)
            let limit = loop.now + .milliseconds(5)
            #expect(loop.run(mode: .default, until: limit) == .timedOut)
            #expect(loop.now >= limit)
            #expect(!log.entries.isEmpty)
        }
    }
}

/// Makes passes beside a timer that is always due, and a port in the loop that is always ready.
private func expectTurnsWithATimer(_ loop: UVRunLoop, _ log: EventLog) {
    let timer = UVRunLoop.Timer(after: .zero, interval: .zero) { _ in log.note("timer") }
    loop.add(timer, forMode: .default)
    for _ in 1...6 {
        letTimePass(.milliseconds(1), loop)
        loop.run(mode: .default, for: .zero)
    }
    #expect(log.entries == ["port", "timer", "port", "timer", "port", "timer"])
}

/// Runs the loop until a timer that is due has fired.
private func expectTimer(_ loop: UVRunLoop, _ log: EventLog, withinPasses count: Int) {
    let timer = UVRunLoop.Timer(after: .zero) { _ in
        log.note("timer")
        loop.stop()
    }
    loop.add(timer, forMode: .default)
    letTimePass(.milliseconds(1), loop)
    #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
    #expect(log.entries.last == "timer" && log.count <= count)
}

/// A port that is always ready, and whose work never counts as a handled source.
private final class SilentPort: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink

    init(_ log: EventLog) {
        link = UVRunLoop.PortLink(
            descriptor: nil,
            events: [],
            order: 0,
            receiver: Receiver(log)
        )
    }

    private final class Receiver: PortReceiver {
        private let log: EventLog

        init(_ log: EventLog) { self.log = log }

        func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {}

        func receive(
            port: SilentPort,
            _ events: UVRunLoop.DescriptorSource.Events
        ) -> ServeResult {
            log.note("port")
            port.link.announce()
            return ServeResult(wasHandled: false)
        }

        func releaseHandler() {}
    }
}
