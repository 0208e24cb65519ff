import Testing

@testable import UVRunLoop

/// When a port is taken for delivery without a place in the line.
@Suite(.timeLimit(.minutes(15))) struct EngineTakeTests {
    private let pipe = Pipe()

    @Test func aPortAloneIsTakenWithWhatHolds() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        let delivery = engine.take(pipe.readEnd)
        #expect(delivery?.ticket == ticket && delivery?.events == .readable)
        let mayHoldReady = engine.summary.mayHoldReady
        #expect(!mayHoldReady)
        // It is being called, and nobody else's turn until that ends.
        let during = engine.take(pipe.readEnd)
        #expect(during == nil)
        engine.finishServing(ticket)
        let after = engine.take(pipe.readEnd)
        #expect(after?.ticket == ticket)
    }

    @Test func oneOfSeveralOnADescriptorIsNotTaken() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .readable)
        _ = try engine.addPort(pipe, .readable)
        let delivery = engine.take(pipe.readEnd)
        #expect(delivery == nil)
    }

    @Test func noneIsTakenBeforeThoseThatWait() throws {
        var engine = Engine()
        let waiting = Pipe()
        let ticket = try engine.addPort(waiting, .readable)
        _ = try engine.addPort(pipe, .readable)
        _ = engine.record(waiting.readEnd, .readable, in: 0)
        let delivery = engine.take(pipe.readEnd)
        #expect(delivery == nil)
        let first = engine.takePort(in: 0)
        #expect(first?.ticket == ticket)
    }

    @Test func oneThatHasWaitedInAnotherModeKeepsItsTurn() throws {
        var engine = Engine()
        let other = UVRunLoop.Mode("engine takes, other")
        let ticket = try engine.addPort(pipe, .readable)
        engine.add(ticket, portTo: other)
        let index = engine.modes.makeIndex(of: other)
        _ = engine.record(pipe.readEnd, .readable, in: index)
        let delivery = engine.take(pipe.readEnd)
        #expect(delivery == nil)
    }

    @Test func aDueTimerComesToItsTurn() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        let timer = UVRunLoop.Timer(at: .init(nanoseconds: .max), sendableHandler: { _ in })
        engine.add(timer, to: .default)
        let date = timer.date
        let delivery = engine.take(pipe.readEnd, now: date)
        #expect(delivery == nil)
        let before = engine.take(pipe.readEnd, now: date - 1)
        #expect(before?.ticket == ticket)
    }

    @Test func aPortOfAnotherModeOrUseOfTheDescriptorIsNotTaken() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .readable, to: UVRunLoop.Mode("engine takes, other"))
        let elsewhere = engine.take(pipe.readEnd)
        #expect(elsewhere == nil)
        let stranger = engine.take(pipe.readEnd, registration: 77)
        #expect(stranger == nil)
    }

    @Test func aHangUpIsDeliveredOnceAndThenNoMore() throws {
        var engine = Engine()
        let ticket = try engine.addPort(pipe, .readable)
        let delivery = engine.take(pipe.readEnd, .hangUp)
        #expect(delivery?.events == [.readable, .hangUp])
        engine.finishServing(ticket)
        let again = engine.take(pipe.readEnd, .hangUp)
        #expect(again == nil)
    }

    @Test func whatItDidNotAskForDoesNotTakeIt() throws {
        var engine = Engine()
        _ = try engine.addPort(pipe, .readable)
        let delivery = engine.take(pipe.readEnd, .writable)
        #expect(delivery == nil)
    }
}

extension Engine {
    fileprivate mutating func take(
        _ descriptor: CInt,
        _ events: UVRunLoop.DescriptorSource.Events = .readable,
        registration: UInt64? = nil,
        now: Int64 = 0
    ) -> Delivered? {
        let registration = registration ?? descriptors[descriptor]?.registration ?? 0
        let delivery = takeSoleReadyPort(
            ReadyReport(descriptor: descriptor, registration: registration, events: events),
            in: 0,
            now: now
        )
        return Delivered(delivery)
    }
}
