import Testing

@testable import UVRunLoop

/// Which of several ready ports is served next, and which not any more.
@Suite(.timeLimit(.minutes(15))) struct EnginePortTurnTests {
    typealias Events = UVRunLoop.DescriptorEvents

    private let other = UVRunLoop.Mode("engine port turns, other")

    @Test func portsOfOnePollComeByOrderAndThenByHowLongTheyWereNotServed() throws {
        var engine = Engine()
        let pipes = (0..<4).map { _ in Pipe() }
        var tickets: [Ticket] = []
        for (pipe, order) in zip(pipes, [1, -5, 1, -5]) {
            tickets.append(try engine.addPort(pipe, .readable, order: order))
        }
        // Each alone is served once, so that who waits longest is known.
        for index in [2, 3, 0, 1] {
            let served = engine.serve([pipes[index]])
            #expect(served == [tickets[index]])
        }
        for naming in [[0, 1, 2, 3], [1, 0, 3, 2]] {
            let served = engine.serve(naming.map { pipes[$0] })
            #expect(served == [3, 1, 2, 0].map { tickets[$0] })
        }
    }

    /// Announced before or after the poll's descriptors are recorded, and by itself before it.
    @Test(arguments: [true, false])
    func anAnnouncementOfAPollTakesItsPlaceByOrder(comesFirst: Bool) throws {
        var engine = Engine()
        let pipes = (0..<4).map { _ in Pipe() }
        var tickets: [Ticket] = []
        for (pipe, order) in zip(pipes, [1, 2, 3, 9]) {
            tickets.append(try engine.addPort(pipe, .readable, order: order))
        }
        engine.announce(tickets[3])
        engine.beginNextPoll()
        if comesFirst { engine.announce(tickets[1], ofPoll: true) }
        for index in [2, 0] { _ = engine.record(pipes[index].readEnd, .readable, in: 0) }
        if !comesFirst { engine.announce(tickets[1], ofPoll: true) }
        let served = (0..<4).map { _ in engine.takePort(in: 0)?.ticket }
        #expect(served == [3, 0, 1, 2].map { tickets[$0] })
    }

    @Test func aPortThatHasMoreNeedsAPollOnlyIfAnotherOneIsExpectedBeforeIt() throws {
        var engine = Engine()
        let pipes = (0..<2).map { _ in Pipe() }
        let tickets = try pipes.map { try engine.addPort($0, .readable) }
        engine.beginNextPoll()
        var (served, mayServe): ([Ticket?], [Bool]) = ([], [])
        for pipe in [0, nil, nil, 1, nil] as [Int?] {
            if let pipe { _ = engine.record(pipes[pipe].readEnd, .readable, in: 0) }
            let ticket = try #require(engine.takePort(in: 0)?.ticket)
            served.append(ticket)
            _ = engine.endCall(of: ticket, hasMore: ticket == tickets[0])
            engine.skipPoll(reusing: engine.latestPoll.number)
            mayServe.append(engine.hasReadyPort(in: 0))
        }
        #expect(served == [0, 0, 0, 1, 0].map { tickets[$0] })
        #expect(mayServe == [true, true, true, true, false])
        engine.findNothing()
        let mayServeAgain = engine.hasReadyPort(in: 0)
        #expect(mayServeAgain)
    }

    /// The skipped poll has asked for what was readable, and not for what is writable.
    @Test(arguments: [.readable, .writable, [.readable, .writable]] as [Events])
    func aSourceHasThePlaceOfASkippedPollForTheEventsThatItAskedFor(found: Events) throws {
        var engine = Engine()
        let pipes = (0..<2).map { _ in Pipe() }
        let tickets = try pipes.map { try engine.addPort($0, .readable) }
        #expect(engine.findAndServe(pipes[0]) == tickets[0])
        engine.skipPoll(reusing: engine.latestPoll.number)
        engine.announce(tickets[1])
        engine.setEvents([.readable, .writable], of: tickets[0])
        engine.beginNextPoll()
        _ = engine.record(pipes[0].readEnd, found, in: 0)
        let served = (0..<2).map { _ in engine.takePort(in: 0)?.ticket }
        #expect(served == (found == .writable ? [1, 0] : [0, 1]).map { tickets[$0] })
    }

    /// Only a source that was served may have stayed ready while polls were skipped.
    @Test(arguments: [false, true])
    func aSourceKeepsAPlaceOfSkippedPollsOnlyIfItWasServed(wasServed: Bool) throws {
        var engine = Engine()
        let pipes = (0..<2).map { _ in Pipe() }
        let tickets = try pipes.map { try engine.addPort($0, .readable) }
        if wasServed {
            #expect(engine.findAndServe(pipes[0]) == tickets[0])
        }
        engine.skipPoll(reusing: engine.latestPoll.number)
        engine.announce(tickets[1])
        engine.beginNextPoll()
        _ = engine.record(pipes[0].readEnd, .readable, in: 0)
        let served = (0..<2).map { _ in engine.takePort(in: 0)?.ticket }
        #expect(served == (wasServed ? [0, 1] : [1, 0]).map { tickets[$0] })
    }

    /// A poll that finds nothing while no port is ready need not be told to the engine.
    @Test(arguments: [false, true])
    func aSourceWithAnAnnouncementIsExpectedIfNoPollCameBetween(isLatest: Bool) throws {
        var engine = Engine()
        let pipes = (0..<2).map { _ in Pipe() }
        let tickets = try pipes.map { try engine.addPort($0, .readable) }
        engine.announce(tickets[0])
        let poll = engine.latestPoll.number + 5
        #expect(engine.takePort(in: 0, after: poll)?.ticket == tickets[0])
        engine.finishServing(tickets[0])
        engine.skipPoll(reusing: isLatest ? poll : poll + 1)
        engine.announce(tickets[1])
        engine.beginPoll(poll + 2)
        for pipe in pipes { _ = engine.record(pipe.readEnd, .readable, in: 0) }
        let served = (0..<2).map { _ in engine.takePort(in: 0)?.ticket }
        #expect(served == (isLatest ? [0, 1] : [1, 0]).map { tickets[$0] })
    }

    @Test func noPollIsSkippedBeforeWhichTheKernelHasToBeTold() throws {
        var engine = Engine()
        let pipe = Pipe()
        let ticket = try engine.addPort(pipe, .readable)
        #expect(engine.findAndServe(pipe) == ticket)
        engine.markUnwatched(pipe.readEnd)
        let poll = engine.latestPoll.number
        let isSkipped = engine.recordSkippedPoll(reusing: poll, in: 0)
        #expect(!isSkipped)
        engine.skipPoll(reusing: poll)
        let isExpected = engine.isExpected(ticket)
        #expect(isExpected)
    }

    @Test func aPortWhoseEventWasUsedUpIsNotListedAsReady() throws {
        var engine = Engine()
        let pipe = Pipe()
        let ticket = try engine.addPort(pipe, .readable)
        engine.add(ticket, portTo: other)
        engine.beginNextPoll()
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        let readiness = engine.listings.map { $0.ports.map(\.isReady) }
        #expect(readiness == [[true], [true]])
        engine.findNothing()
        let later = engine.listings.map { $0.ports.map(\.isReady) }
        let isReady = engine.hasReadyPort()
        #expect(!isReady && later == [[false], [false]])
    }

    @Test func theLongestUnservedIsFirstAlsoAfterFourBillionSerialNumbers() throws {
        var modes = ModeTable<LoopItems>()
        let wrap = UInt64(1) << 32
        let pipe = Pipe()
        let turns = try [wrap - 1, wrap].map { servedAt in
            let source = try UVRunLoop.DescriptorSource(
                pipe.readEnd,
                events: .readable,
                sendableHandler: { _, _ in }
            )
            var record = PortRecord<LoopItems>(port: ServedPort(source), serial: servedAt)
            record.queue(.readable, poll: 1, at: wrap + 5, in: &modes)
            return try #require(record.turn)
        }
        #expect(turns[0] < turns[1])
    }

    @Test func aServedPortThatIsReadyAgainGoesToTheBack() throws {
        var engine = Engine()
        let pipes = (0..<3).map { _ in Pipe() }
        var tickets: [Ticket] = []
        for pipe in pipes { tickets.append(try engine.addPort(pipe, .readable)) }
        var served: [Ticket] = []
        for _ in 0..<9 {
            engine.beginNextPoll()
            for pipe in pipes { _ = engine.record(pipe.readEnd, .readable, in: 0) }
            guard let delivery = engine.takePort(in: 0) else { break }
            served.append(delivery.ticket)
            engine.finishServing(delivery.ticket)
        }
        #expect(served == tickets + tickets + tickets)
    }

    @Test func anOrderThatIsLowerDoesNotStarveTheOthers() throws {
        var engine = Engine()
        let pipes = [Pipe(), Pipe()]
        let eager = try engine.addPort(pipes[0], .readable, order: -1_000_000_000_000)
        let patient = try engine.addPort(pipes[1], .readable, order: 1_000_000_000_000)
        var served: [Ticket] = []
        for _ in 0..<4 {
            engine.beginNextPoll()
            for pipe in pipes { _ = engine.record(pipe.readEnd, .readable, in: 0) }
            guard let delivery = engine.takePort(in: 0) else { break }
            served.append(delivery.ticket)
            engine.finishServing(delivery.ticket)
        }
        #expect(served == [eager, patient, eager, patient])
    }

    @Test func aPortThatLeftIsNotServed() throws {
        var engine = Engine()
        let pipe = Pipe()
        let ticket = try engine.addPort(pipe, .readable)
        let changes = engine.takeWatchChanges(for: 0)
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        _ = engine.removePort(ticket)
        let rest = (
            engine.hasReadyPort(), engine.modes[0].ports.count,
            engine.descriptors[pipe.readEnd] == nil
        )
        #expect(rest == (false, 0, true))

        // A source registered anew is another one, and an order for the old one is void.
        _ = try engine.addPort(pipe, .readable)
        let isReady = engine.hasReadyPort()
        let isCurrent = changes.map { engine.isCurrent($0) }
        #expect(!isReady && isCurrent == [false])
        engine.finishServing(ticket)
    }

    @Test func aSourceInTwoModesIsServedOnceForOneEvent() throws {
        var engine = Engine()
        let pipe = Pipe()
        let ticket = try engine.addPort(pipe, .readable)
        engine.add(ticket, portTo: other)
        let index = engine.modes.makeIndex(of: other)
        engine.beginNextPoll()
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        // A nested run in the other mode polls too, and serves it.
        engine.beginNextPoll()
        _ = engine.record(pipe.readEnd, .readable, in: index)
        let inner = engine.takePort(in: index)
        #expect(inner?.ticket == ticket)
        engine.finishServing(ticket)
        let outer = engine.takePort(in: 0)
        #expect(outer == nil)
    }

    @Test func twoSourcesOnOneDescriptorEachGetTheirOwnEvent() throws {
        var engine = Engine()
        let pipe = Pipe()
        let reader = try engine.addPort(pipe, .readable)
        let writer = try engine.addPort(pipe, .writable)
        _ = engine.record(pipe.readEnd, [.readable, .writable], in: 0)
        let deliveries = [engine.takePort(in: 0), engine.takePort(in: 0)]
        #expect(deliveries.map { $0?.ticket } == [reader, writer])
        #expect(deliveries.map { $0?.events } == [.readable, .writable])
    }

    @Test func aCommonModeThatJoinsLaterWatchesThePortsOfTheOthers() throws {
        var engine = Engine()
        let pipe = Pipe()
        _ = try engine.addPort(pipe, .readable, to: .common)
        let index = engine.modes.makeIndex(of: other)
        let before = engine.takeWatchChanges(for: index)
        #expect(before.isEmpty)
        _ = engine.addCommonMode(other)
        let after = engine.takeWatchChanges(for: index)
        #expect(after.map(\.descriptor) == [pipe.readEnd])
        let isReady = engine.record(pipe.readEnd, .readable, in: index) == nil
        let delivery = engine.takePort(in: index)
        #expect(isReady && delivery != nil)
    }

    @Test func aClosedEngineGivesItsPortsBack() throws {
        var engine = Engine()
        let pipe = Pipe()
        _ = try engine.addPort(pipe, .readable)
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        let remains = engine.close()
        let rest = (remains.ports.count, engine.hasReadyPort(), engine.modes[0].ports.count)
        #expect(rest == (1, false, 0))
    }
}

extension Engine {
    /// Has one poll find pipes ready, and serves them all.
    fileprivate mutating func serve(_ pipes: [Pipe]) -> [Ticket] {
        beginNextPoll()
        for pipe in pipes { _ = record(pipe.readEnd, .readable, in: 0) }
        var served: [Ticket] = []
        while let delivery = takePort(in: 0) {
            served.append(delivery.ticket)
            finishServing(delivery.ticket)
        }
        return served
    }
}

extension Engine {
    /// Makes a poll that finds a pipe ready, and serves the first port.
    fileprivate mutating func findAndServe(_ pipe: Pipe) -> Ticket? {
        beginNextPoll()
        _ = record(pipe.readEnd, .readable, in: 0)
        guard let ticket = takePort(in: 0)?.ticket else { return nil }
        finishServing(ticket)
        return ticket
    }
}
