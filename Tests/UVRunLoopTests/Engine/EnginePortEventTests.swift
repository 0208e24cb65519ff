import Testing

@testable import UVRunLoop

/// What the kernel is asked for when a port changes what it waits for.
@Suite(.timeLimit(.minutes(15))) struct EnginePortEventTests {
    private let other = UVRunLoop.Mode("engine port events, other")
    private let pipe = Pipe()

    @Test func moreEventsAreAskedForBeforeTheNextPoll() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        _ = engine.takeWatchChanges(for: 0)
        engine.setEvents([.readable, .writable], of: ticket)
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.map(\.events) == [[.readable, .writable, .hangUp]])
    }

    @Test func fewerEventsAreAskedForBeforeTheNextPoll() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, [.readable, .writable])
        _ = engine.takeWatchChanges(for: 0)
        engine.setEvents(.readable, of: ticket)
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.map(\.events) == [[.readable, .hangUp]])
        let again = engine.takeWatchChanges(for: 0)
        #expect(again.isEmpty)
    }

    @Test func theSameEventsAreNotAskedForTwice() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        _ = engine.takeWatchChanges(for: 0)
        engine.setEvents(.readable, of: ticket)
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.isEmpty)
    }

    @Test func noEventsLeaveTheHangUp() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        engine.setEvents([], of: ticket)
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.map(\.events) == [.hangUp])
    }

    @Test func anotherSourceOfTheDescriptorKeepsItsEvents() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, [.readable, .writable])
        _ = try engine.addPort(pipe, .writable, to: other)
        let index = engine.modes.makeIndex(of: other)
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.takeWatchChanges(for: index)
        engine.setEvents(.readable, of: ticket)
        let first = engine.takeWatchChanges(for: 0)
        #expect(first.map(\.events) == [[.readable, .hangUp]])
        let second = engine.takeWatchChanges(for: index)
        #expect(second.map(\.events) == [[.readable, .writable, .hangUp]])
    }

    @Test func aPortThatIsBeingCalledIsAskedForWhenTheCallIsOver() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.record(pipe.readEnd, .readable, in: 0)
        _ = engine.takePort(in: 0)
        engine.setEvents(.writable, of: ticket)
        let during = engine.takeWatchChanges(for: 0)
        #expect(during.isEmpty)
        engine.finishServing(ticket)
        let afterwards = engine.takeWatchChanges(for: 0)
        #expect(afterwards.map(\.events) == [[.writable, .hangUp]])
    }

    @Test func aPortThatIsOffAfterAHangUpIsOnAgain() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.record(pipe.readEnd, .hangUp, in: 0)
        _ = engine.takePort(in: 0)
        engine.finishServing(ticket)
        let rest = engine.record(pipe.readEnd, .hangUp, in: 0)
        #expect(rest != nil && rest?.events == nil)
        engine.setEvents(.writable, of: ticket)
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.map(\.events) == [[.writable, .hangUp]])
    }

    @Test func aPortThatIsOffIsStillServedForWhatTheKernelDoesNotKnow() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        _ = engine.takeWatchChanges(for: 0)
        _ = engine.record(pipe.readEnd, .hangUp, in: 0)
        _ = engine.takePort(in: 0)
        engine.finishServing(ticket)
        engine.announce(ticket)
        let delivery = engine.takePort(in: 0)
        #expect(delivery?.ticket == ticket && delivery?.events == [])
        engine.finishServing(ticket)
        // It stays off as far as the kernel goes.
        let changes = engine.takeWatchChanges(for: 0)
        #expect(changes.isEmpty)
    }
}
