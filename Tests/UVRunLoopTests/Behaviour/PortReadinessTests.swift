import Glibc
import Testing
import UVRunLoop

/// A port's place in the line: since when it has been ready, as far as polls tell.
@Suite(.timeLimit(.minutes(15))) struct PortReadinessTests {
    private let other = UVRunLoop.Mode("port readiness, other")

    /// Whose data other code has read, and new data has come to.
    @Test(arguments: DriverKind.allCases)
    func aPortThatWasReadyOnceLosesItsPlaceWithItsData(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (thief, victim, writer, patient) = (Pipe(), Pipe(), Pipe(), Pipe())
            let first = try portReader(thief, order: 1, noting: "thief", in: log) {
                _ = victim.read()
                writer.write("x")
                patient.write("x")
            }
            let second = try portReader(writer, order: 3, noting: "writer", in: log) {
                victim.write("x")
                // No poll is reused for so long.
                letTimePass(.milliseconds(2), loop)
            }
            loop.add(first, forMode: .default)
            loop.add(second, forMode: .default)
            loop.add(try portReader(victim, order: 2, noting: "victim", in: log), forMode: .default)
            loop.add(
                try portReader(patient, order: 4, noting: "patient", in: log),
                forMode: .default
            )
            thief.write("x")
            victim.write("x")
            loop.run(until: log, has: 4)
            #expect(log.entries == ["thief", "writer", "patient", "victim"])
        }
    }

    /// The same behind another one in the line: a poll finds it again before its turn has come.
    @Test(arguments: DriverKind.allCases)
    func aPortBehindAnotherLosesItsPlaceWithItsData(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (thief, victim, writer) = (Pipe(), Pipe(), Pipe())
            let (next, patient) = (Pipe(), Pipe())
            let first = try portReader(thief, order: 1, noting: "thief", in: log) {
                _ = victim.read()
                patient.write("x")
                letTimePass(.milliseconds(2), loop)
            }
            let second = try portReader(writer, order: 2, noting: "writer", in: log) {
                victim.write("x")
                letTimePass(.milliseconds(2), loop)
            }
            loop.add(first, forMode: .default)
            loop.add(second, forMode: .default)
            loop.add(try portReader(next, order: 3, noting: "next", in: log), forMode: .default)
            loop.add(try portReader(victim, order: 4, noting: "victim", in: log), forMode: .default)
            loop.add(
                try portReader(patient, order: 5, noting: "patient", in: log),
                forMode: .default
            )
            let end = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
                if log.entries.count == 5 { loop.stop() }
            }
            loop.add(end, forMode: .default)
            for pipe in [thief, writer, next, victim] { pipe.write("x") }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["thief", "writer", "next", "patient", "victim"])
        }
    }

    /// A source that stays ready comes after what its own handler has sent.
    @Test(arguments: DriverKind.allCases)
    func aMessageThatAHandlerSendsComesBeforeItsSourceAgain(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (always, other, third) = (Pipe(), Pipe(), Pipe())
            let port = messagePort(in: loop, log)
            let source = try portReader(always, order: 1) {
                log.note("always")
                if log.entries.count == 2 { send(1, to: port) } else { loop.stop() }
            }
            loop.add(source, forMode: .default)
            loop.add(try portReader(other, order: 0, noting: "other", in: log), forMode: .default)
            // Before it a poll is skipped, which would have found the first one again.
            loop.add(try portReader(third, order: 2, noting: "third", in: log), forMode: .default)
            for pipe in [always, other, third] { pipe.write("x") }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["other", "always", "third", "1", "always"])
        }
    }

    /// The place that a skipped poll would have given to a descriptor is no place after a poll that
    /// has not found it ready.
    @Test(arguments: DriverKind.allCases)
    func aPollThatFindsNothingEndsThePlaceOfASkippedOne(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let port = messagePort(in: loop, log) { if $0 == 2 { loop.stop() } }
            loop.add(try portReader(pipe, noting: "descriptor", in: log), forMode: .default)
            send(1, to: port)
            send(2, to: port)
            pipe.write("x")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["1", "descriptor", "2"])
            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in
                send(3, to: port)
                pipe.write("x")
            }
            loop.add(timer, forMode: .default)
            loop.run(until: log, has: 5)
            #expect(log.entries.suffix(2) == ["3", "descriptor"])
        }
    }

    /// Also if the poll is of another mode that the source is in.
    @Test(arguments: [false, true])
    func aPollInAnotherModeEndsAPlaceToo(findsAnother: Bool) throws {
        try withLoop(.manual) { loop, log in
            let (first, second, another) = (Pipe(), Pipe(), Pipe())
            let source = try portReader(second, order: 1, noting: "second", in: log)
            loop.add(try portReader(first, noting: "first", in: log), forMode: .default)
            loop.add(source, forMode: .default)
            loop.add(source, forMode: other)
            loop.add(try portReader(another, noting: "another", in: log), forMode: other)
            let port = messagePort(in: loop, log)
            for pipe in [first, second] { pipe.write("x") }
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            _ = second.read()
            if findsAnother { another.write("x") }
            loop.run(mode: other, for: .zero)
            send(1, to: port)
            second.write("x")
            for _ in 1...2 {
                loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(log.entries == ["first"] + (findsAnother ? ["another"] : []) + ["1", "second"])
        }
    }

    /// What other runs have found is polled for again, and may have been removed by then.
    @Test func aPortThatIsTakenInPlaceOfARemovedOneIsServed() async {
        await #expect(processExitsWith: .success) {
            endProcess(after: 60)
            try onAnotherThread {
                let (loop, log) = (UVRunLoop.current, EventLog())
                let (patient, busy) = (Pipe(), Pipe())
                let removed = try UVRunLoop.DescriptorSource(
                    patient.readEnd,
                    events: .readable,
                    order: 1,
                    sendableHandler: { _, _ in log.note("removed") }
                )
                let source = try UVRunLoop.DescriptorSource(
                    busy.readEnd,
                    events: .readable,
                    sendableHandler: { _, _ in
                        log.note("served")
                        _ = busy.read()
                    }
                )
                loop.add(removed, forMode: .default)
                loop.add(source, forMode: .default)
                for pipe in [patient, busy] { pipe.write("x") }
                loop.run(mode: .default, for: .seconds(50), returnAfterSourceHandled: true)
                _ = patient.read()
                busy.write("x")
                // By another thread, after the loop has decided to poll.
                intercept([.epollWait]) {
                    removed.invalidate()
                    return 0
                }
                let result = loop.run(
                    mode: .default,
                    for: .seconds(5),
                    returnAfterSourceHandled: true
                )
                precondition(result == .handledSource && log.entries == ["served", "served"])
            }
        }
    }

    /// A poll that is skipped in a mode without the descriptor could not have found it.
    @Test(arguments: DriverKind.allCases)
    func aPollSkippedInAnotherModeKeepsNoPlace(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (pipe, idle) = (Pipe(), Pipe())
            let descriptor = try portReader(pipe, noting: "descriptor", in: log)
            let port = messagePort(in: loop, log, mode: other)
            loop.add(descriptor, forMode: other)
            pipe.write("x")
            loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            // Its polls are of descriptors, too.
            loop.add(try portReader(idle) {}, forMode: .default)
            let busy = messagePort(in: loop, log) { _ in
                send(2, to: port)
                pipe.write("x")
                loop.stop()
            }
            // After a sleep, whose poll is reused.
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in send(1, to: busy) }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(log.entries == ["descriptor", "1", "2", "descriptor"])
        }
    }

    /// Nor could one in a mode that the descriptor has left.
    @Test(arguments: DriverKind.allCases)
    func aPollSkippedInAModeThatItHasLeftKeepsNoPlace(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (pipe, idle) = (Pipe(), Pipe())
            let last = messagePort(in: loop, log, mode: other)
            let port = messagePort(in: loop, log) { id in
                guard id == 2 else { return }
                send(3, to: last)
                pipe.write("x")
                loop.stop()
            }
            let descriptor = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                source,
                _ in
                log.note("descriptor")
                _ = pipe.read()
                loop.remove(source, forMode: .default)
            }
            for mode in [.default, other] { loop.add(descriptor, forMode: mode) }
            // The polls of the mode stay polls of descriptors.
            loop.add(try portReader(idle) {}, forMode: .default)
            send(1, to: port)
            send(2, to: port)
            pipe.write("x")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            for _ in 1...2 {
                loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(log.entries == ["1", "descriptor", "2", "3", "descriptor"])
        }
    }
}
