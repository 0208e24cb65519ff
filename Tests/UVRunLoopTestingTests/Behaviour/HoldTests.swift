import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopTesting

/// Clocks that are kept from jumping, and waits for what is not virtual.
@Suite(.timeLimit(.minutes(15))) struct HoldTests {
    private let clock = UVRunLoop.VirtualClock()
    private let log: UVRunLoop.EventLog

    init() { log = UVRunLoop.EventLog(timedBy: clock) }

    private func addTimer(_ seconds: Int, to loop: UVRunLoop) {
        let timer = UVRunLoop.Timer(after: .seconds(seconds)) { [log] _ in log.note("timer") }
        loop.add(timer, forMode: .default)
    }

    @Test func aHeldClockDoesNotJump() {
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            addTimer(1, to: loop)
            let hold = clock.hold()
            let thread = startThread { [log] in
                // The loop sleeps, and still serves what comes.
                awaitSleep(of: loop)
                let isPerformed = Signal()
                loop.perform {
                    log.note("block")
                    isPerformed.send()
                }
                isPerformed.wait()
                awaitSleep(of: loop)
                hold.release()
                hold.release()
            }
            loop.run()
            thread.join()
        }
        #expect(log.difference(from: ["0 s: block", "1 s: timer"]) == nil)
    }

    @Test func theClockJumpsWhenTheLastHoldIsReleased() {
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            addTimer(1, to: loop)
            let (one, two) = (clock.hold(), clock.hold())
            let thread = startThread { [clock, log] in
                one.release()
                awaitSleep(of: loop)
                sleepBriefly(times: 20)
                log.note("held: \(clock.elapsed == .zero)")
                two.release()
            }
            loop.run()
            thread.join()
        }
        #expect(log.difference(from: ["0 s: held: true", "1 s: timer"]) == nil)
    }

    @Test func aHoldThatIsDroppedIsReleased() {
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            addTimer(1, to: loop)
            do { _ = clock.hold() }
            loop.run()
        }
        #expect(log.difference(from: ["1 s: timer"]) == nil)
    }

    @Test func aHoldLastsAsLongAsItsFunction() throws {
        struct Refusal: Error, Equatable {}
        let thread = try UVRunLoop.Thread(name: "worker", clock: clock)
        #expect(throws: Refusal()) {
            try clock.withHold { [clock, log] () throws(Refusal) in
                thread.runLoop.requestPerform(after: .seconds(1)) { log.note("worker") }
                awaitSleep(of: thread.runLoop)
                sleepBriefly(times: 20)
                #expect(clock.elapsed == .zero)
                throw Refusal()
            }
        }
        UVRunLoop.withVirtualLoop(clock: clock) { loop in _ = loop.runUntilIdle() }
        thread.stop()
        thread.join()
        #expect(log.difference(from: ["1 s: worker"]) == nil)
    }

    @Test func aHeldClockIsMovedByHand() throws {
        let thread = try UVRunLoop.Thread(name: "worker", clock: clock)
        let hold = clock.hold()
        let fires = Signal()
        for seconds in 1...3 {
            thread.runLoop.requestPerform(after: .seconds(seconds)) { [log] in
                log.note("fire")
                fires.send()
            }
        }
        clock.advance(by: .milliseconds(1_500))
        fires.wait(times: 1)
        clock.advance(by: .milliseconds(1_500))
        fires.wait(times: 3)
        hold.release()
        thread.stop()
        thread.join()
        let expected = ["1.5 s: fire", "3 s: fire", "3 s: fire"]
        #expect(log.difference(from: expected) == nil)
    }

    // MARK: Descriptors

    @Test func aReadyDescriptorIsServedBeforeTheClockJumps() throws {
        let pipe = Pipe()
        try UVRunLoop.withVirtualLoop(clock: clock) { loop in
            addTimer(1, to: loop)
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                [log] source, _ in
                log.note("read \(pipe.read(1) ?? "")")
                if log.count == 3 { source.invalidate() }
            }
            loop.add(source, forMode: .default)
            pipe.write("abc")
            loop.run()
        }
        let expected = ["0 s: read a", "0 s: read b", "0 s: read c", "1 s: timer"]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func aDescriptorOfAnotherLoopIsServedBeforeTheClockJumps() throws {
        for _ in 0..<50 {
            let clock = UVRunLoop.VirtualClock()
            let log = UVRunLoop.EventLog(timedBy: clock)
            let thread = try UVRunLoop.Thread(name: "reader", clock: clock)
            let pipe = Pipe()
            try UVRunLoop.withVirtualLoop(clock: clock) { loop in
                let source = try UVRunLoop.DescriptorSource(
                    pipe.readEnd,
                    events: .readable,
                    sendableHandler: { source, _ in log.note("read \(pipe.read() ?? "")") }
                )
                thread.runLoop.add(source, forMode: .default)
                // The writer sleeps at once, and knows the next date.
                for seconds in 1...3 {
                    let timer = UVRunLoop.Timer(after: .seconds(seconds)) { _ in
                        log.note("write")
                        pipe.write("x")
                    }
                    loop.add(timer, forMode: .default)
                }
                loop.runUntilIdle()
                source.invalidate()
            }
            thread.stop()
            thread.join()
            let expected = [
                "1 s: write", "1 s: read x", "2 s: write", "2 s: read x", "3 s: write",
                "3 s: read x",
            ]
            #expect(log.difference(from: expected) == nil)
        }
    }

    @Test func theClockDoesNotWaitForADescriptorThatIsNotReady() throws {
        let pipe = Pipe()
        try UVRunLoop.withVirtualLoop(clock: clock) { loop in
            addTimer(1, to: loop)
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                [log] source, _ in
                log.note("read \(pipe.read() ?? "")")
                source.invalidate()
            }
            loop.add(source, forMode: .default)
            // A wait in real time, after the last date.
            let thread = startThread { [log] in
                while log.count == 0 { sleepBriefly() }
                awaitSleep(of: loop)
                pipe.write("late")
            }
            loop.run()
            thread.join()
        }
        #expect(log.difference(from: ["1 s: timer", "1 s: read late"]) == nil)
    }

    @Test func aHeldClockWaitsForADescriptor() throws {
        let pipe = Pipe()
        try UVRunLoop.withVirtualLoop(clock: clock) { loop in
            addTimer(1, to: loop)
            let hold = clock.hold()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                [log] source, _ in
                log.note("read \(pipe.read() ?? "")")
                source.invalidate()
                hold.release()
            }
            loop.add(source, forMode: .default)
            let thread = startThread {
                awaitSleep(of: loop)
                pipe.write("answer")
            }
            loop.run()
            thread.join()
        }
        #expect(log.difference(from: ["0 s: read answer", "1 s: timer"]) == nil)
    }

    @Test func theNumberOfAnInvalidatedDescriptorMayBelongToAnotherFile() throws {
        let (pipe, other) = (Pipe(), Pipe())
        other.write("x")
        try UVRunLoop.withVirtualLoop(clock: clock) { loop in
            addTimer(1, to: loop)
            let source = try UVRunLoop.DescriptorSource(
                pipe.readEnd,
                events: .readable,
                sendableHandler: { [log] _, _ in log.note("stale") }
            )
            loop.add(source, forMode: .default)
            clock.after(.milliseconds(500)) {
                source.invalidate()
                // Closes the one and opens the other at once; a ready one would keep the clock.
                dup2(other.readEnd, pipe.readEnd)
            }
            loop.run()
        }
        #expect(log.difference(from: ["1 s: timer"]) == nil)
    }
}
