import Testing

@testable import UVRunLoop

/// What the kernel is asked for about descriptors.
@Suite(.timeLimit(.minutes(15))) struct EnginePortTests {
    typealias Events = UVRunLoop.DescriptorSource.Events

    private let other = UVRunLoop.Mode("engine ports, other")
    private let pipe = Pipe()

    @Test func theKernelIsAskedForTheUnionOfWhatAModesSourcesAskFor() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .readable)
        _ = try engine.addPort(pipe, .writable)
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.map(\.events) == [[.readable, .writable, .hangUp]])
        #expect(changes.map(\.descriptor) == [pipe.readEnd])
        let again = engine.takeWatchChanges(for: 0)
        #expect(again.isEmpty)
    }

    @Test func onlyWhatTheRunningModeHoldsIsAskedFor() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .readable)
        _ = try engine.addPort(pipe, .writable, to: other)
        let index = engine.modes.makeIndex(of: other)
        let first = engine.takeWatchChanges(for: 0)
        #expect(first.map(\.events) == [[.readable, .hangUp]])
        // Armed events stay until they get in the way.
        let second = engine.takeWatchChanges(for: index)
        #expect(second.map(\.events) == [[.readable, .writable, .hangUp]])
        let third = engine.takeWatchChanges(for: 0)
        #expect(third.isEmpty)
    }

    @Test func whatOneModeAsksForIsNotLeftToBeAskedForInAnother() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        engine.add(ticket, portTo: other)
        _ = engine.takeWatchChanges(for: 0)
        let isLeft = engine.summary.mayHoldUnwatched
        #expect(!isLeft)
        let rest = engine.takeWatchChanges(for: engine.modes.makeIndex(of: other))
        #expect(rest.isEmpty)
        // The number may be that of another file by now.
        engine.markUnwatched(pipe.readEnd)
        let isLeftAgain = engine.summary.mayHoldUnwatched
        #expect(isLeftAgain)
        let anew = engine.takeWatchChanges(for: engine.modes.makeIndex(of: other))
        #expect(anew.map(\.events) == [[.readable, .hangUp]])
    }

    @Test func aSecondSourceHasTheFirstOnesModeAskAgain() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .readable, to: other)
        let index = engine.modes.makeIndex(of: other)
        _ = engine.takeWatchChanges(for: index)
        // The number may be that of another file by now, of which the kernel knows nothing.
        _ = try engine.addPort(pipe, .writable)
        let first = engine.takeWatchChanges(for: 0)
        #expect(first.map(\.events) == [[.writable, .hangUp]])
        let second = engine.takeWatchChanges(for: index)
        #expect(second.map(\.events) == [[.readable, .writable, .hangUp]])
    }

    @Test func anEventOfAnotherModeIsTurnedOffOnceAndAskedForAgainThere() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .writable)
        let reader = try engine.addPort(pipe, .readable, to: other)
        let index = engine.modes.makeIndex(of: other)
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.takeWatchChanges(for: index)

        let change = engine.record(pipe.readEnd, .readable, in: 0)
        #expect(change?.events == [.writable, .hangUp])
        let again = engine.record(pipe.readEnd, .readable, in: 0)
        #expect(again == nil)
        let isReady = engine.hasReadyPort()
        #expect(!isReady)

        let changes = engine.takeWatchChanges(for: index)
        #expect(changes.map(\.events) == [[.readable, .writable, .hangUp]])
        let rest = engine.record(pipe.readEnd, .readable, in: index)
        let delivery = engine.takePort(in: index)
        #expect(rest == nil && delivery?.ticket == reader && delivery?.events == .readable)
    }

    @Test func aDescriptorThatNobodyInTheModeWantsLeavesTheKernelsSet() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .readable, to: other)
        let index = engine.modes.makeIndex(of: other)
        _ = engine.takeWatchChanges(for: index)
        let change = engine.record(pipe.readEnd, .readable, in: 0)
        #expect(change != nil && change?.events == nil)
        let changes = engine.takeWatchChanges(for: index)
        #expect(changes.map(\.events) == [[.readable, .hangUp]])
    }

    @Test func aDescriptorThatIsNobodysLeavesTheKernelsSet() {
        var engine = Engine()
        let change = engine.record(77, .readable, in: 0)
        #expect(change?.descriptor == 77 && change?.events == nil)
    }

    @Test func aSourceOnTheStackIsNotServedAndAskedForAgainAfterwards() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        let delivery = engine.takePort(in: 0)
        #expect(delivery?.ticket == ticket)

        engine.beginNextPoll()
        let change = engine.record(pipe.readEnd, .readable, in: 0)
        #expect(change != nil && change?.events == nil)
        let nested = engine.takePort(in: 0)
        #expect(nested == nil)
        let none = engine.takeWatchChanges(for: 0)
        #expect(none.isEmpty)

        engine.finishServing(ticket)
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.map(\.events) == [[.readable, .hangUp]])
    }

    @Test func aSourceBesideOneOnTheStackIsServed() throws {
        var engine = Engine()
        let tickets = [
            try engine.addPort(pipe, .readable), try engine.addPort(pipe, .readable),
        ]
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        let first = engine.takePort(in: 0)
        engine.beginNextPoll()
        let change = engine.record(pipe.readEnd, .readable, in: 0)
        #expect(change == nil)
        let second = engine.takePort(in: 0)
        #expect([first?.ticket, second?.ticket] == tickets)
        let third = engine.takePort(in: 0)
        #expect(third == nil)
    }

    @Test func aHangUpIsEverythingAskedForAndTurnsTheSourceOff() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, [.readable, .writable])
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.record(pipe.readEnd, .hangUp, in: 0)
        let delivery = engine.takePort(in: 0)
        #expect(delivery?.events == [.readable, .writable, .hangUp])
        #expect(delivery?.refusal == nil)
        engine.finishServing(ticket)

        engine.beginNextPoll()
        let change = engine.record(pipe.readEnd, .hangUp, in: 0)
        #expect(change != nil && change?.events == nil)
        let silent = (engine.hasReadyPort(), engine.takeWatchChanges(for: 0).count)
        #expect(silent == (false, 0))

        engine.add(ticket, portTo: .default)
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.map(\.events) == [[.readable, .writable, .hangUp]])
    }

    @Test func whatALaterPollDoesNotFindAnyMoreIsPassedOver() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .readable)
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        let before = engine.hasReadyPort()
        engine.findNothing()
        let after = engine.hasReadyPort()
        #expect((before, after) == (true, false))
    }

    @Test func eventsOfOnePollAreGatheredAndThoseOfAnEarlierOneForgotten() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, [.readable, .writable])
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        _ = engine.record(pipe.readEnd, .writable, in: 0)
        let gathered = engine.takePort(in: 0)
        #expect(gathered?.events == [.readable, .writable])
        if let gathered { engine.finishServing(gathered.ticket) }
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        engine.beginNextPoll()
        _ = engine.record(pipe.readEnd, .writable, in: 0)
        let later = engine.takePort(in: 0)
        #expect(later?.events == .writable)
    }

    @Test func aRefusalIsTheLastCallOfEverySourceInTheMode() throws {
        var engine = Engine()
        let tickets = [
            try engine.addPort(pipe, .readable), try engine.addPort(pipe, .writable),
        ]
        let elsewhere = try engine.addPort(pipe, .readable, to: other)
        let index = engine.modes.makeIndex(of: other)
        let changes = engine.takeWatchChanges(for: 0)
        for change in changes { engine.refuse(change, .badDescriptor, in: 0) }
        engine.beginNextPoll()
        let deliveries = [engine.takePort(in: 0), engine.takePort(in: 0)]
        #expect(deliveries.map { $0?.ticket } == tickets)
        #expect(deliveries.allSatisfy { $0?.refusal == .badDescriptor && $0?.events == .hangUp })
        // The other mode finds out for itself.
        let rest = engine.takeWatchChanges(for: index)
        #expect(rest.map(\.events) == [[.readable, .hangUp]])
        for change in rest { engine.refuse(change, .badDescriptor, in: index) }
        let last = engine.takePort(in: index)
        #expect(last?.ticket == elsewhere && last?.refusal == .badDescriptor)
    }

    /// A nested run in another mode would wait for the source otherwise.
    @Test func aRefusalIsFoundInAllModesOfTheSource() throws {
        for modeOfTheRun in 0..<3 {
            var engine = Engine()
            let modes = [UVRunLoop.Mode.default, other, UVRunLoop.Mode("uvrunloop.tests.later")]
            let ticket = try engine.addPort(pipe, .readable)
            engine.add(ticket, portTo: other)
            for change in engine.takeWatchChanges(for: 0) {
                engine.refuse(change, .badDescriptor, in: 0)
            }
            engine.add(ticket, portTo: modes[2])
            engine.beginNextPoll()
            let delivery = engine.takePort(in: engine.modes.makeIndex(of: modes[modeOfTheRun]))
            #expect(delivery?.refusal == .badDescriptor && delivery?.events == .hangUp)
            engine.finishServing(ticket)
            let rest = modes.map { engine.takePort(in: engine.modes.makeIndex(of: $0))?.ticket }
            #expect(rest == [nil, nil, nil])
        }
    }

    @Test func aRefusalIsFoundInAModeThatTheSourceHasLeftAndJoinsAgain() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        // Which keeps the source in the loop.
        engine.add(ticket, portTo: .common)
        for change in engine.takeWatchChanges(for: 0) {
            engine.refuse(change, .badDescriptor, in: 0)
        }
        _ = engine.remove(ticket, portFrom: .default)
        engine.beginNextPoll()
        #expect(engine.takePort(in: 0) == nil && !engine.summary.mayHoldReady)
        engine.add(ticket, portTo: .default)
        #expect(engine.summary.mayHoldReady)
        #expect(engine.takePort(in: 0)?.refusal == .badDescriptor)
    }

    /// The kernel may watch the descriptor later, for another source.
    @Test func aRefusalIsToldWithTheEventsOfALaterPoll() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        for change in engine.takeWatchChanges(for: 0) {
            engine.refuse(change, .badDescriptor, in: 0)
        }
        _ = try engine.addPort(pipe, .readable)
        engine.beginNextPoll()
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        let first = engine.takePort(in: 0)
        #expect(first?.ticket == ticket && first?.refusal == .badDescriptor)
        #expect(first?.events == [.readable, .hangUp])
        let second = engine.takePort(in: 0)
        #expect(second?.ticket != ticket && second?.events == .readable)
    }

    /// The source stays, for its other events.
    @Test func aRefusedDescriptorIsNeitherToldTwiceNorWatchedAgain() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        for change in engine.takeWatchChanges(for: 0) {
            engine.refuse(change, .badDescriptor, in: 0)
        }
        #expect(engine.takePort(in: 0)?.refusal == .badDescriptor)
        engine.finishServing(ticket)
        #expect(engine.takeWatchChanges(for: 0).isEmpty)
        engine.announce(ticket)
        let next = engine.takePort(in: 0)
        #expect(next?.ticket == ticket && next?.refusal == nil && next?.events == [])
    }
}
