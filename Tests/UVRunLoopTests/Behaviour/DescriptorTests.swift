import Testing
import UVRunLoop

/// Descriptor sources: when they are served, and with which events.
@Suite(.timeLimit(.minutes(15))) struct DescriptorTests {
    @Test(arguments: DriverKind.allCases)
    func dataFromAnotherThreadEndsTheSleepAndIsDelivered(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            loop.add(try reader(pipe, log, as: "read"), forMode: .default)
            log.observe(loop)
            elsewhere(after: .milliseconds(10), loop) { pipe.write("x") }
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            let story = [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting",
                "read x", "exit",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceThatIsReadyBeforeTheSleepIsServedWithoutIt(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            loop.add(try reader(pipe, log, as: "read"), forMode: .default)
            pipe.write("x")
            log.observe(loop)
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "read x", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPassMayHandleACustomSourceAndOnePort(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            loop.add(try reader(pipe, log, as: "read"), forMode: .default)
            pipe.write("x")
            let source = UVRunLoop.Source { _ in log.note("custom") }
            loop.add(source, forMode: .default)
            source.signal()
            log.observe(loop)
            loop.run(mode: .default, for: .zero)
            let story = ["entry", "beforeTimers", "beforeSources", "custom", "read x", "exit"]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func onePortIsServedPerPass(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = ["A", "B", "C"].map { ($0, Pipe()) }
            for (name, pipe) in pipes {
                loop.add(try reader(pipe, log, as: name), forMode: .default)
                pipe.write("x")
            }
            for count in 1...3 {
                loop.run(mode: .default, for: .zero)
                #expect(log.entries.count == count)
            }
            loop.run(mode: .default, for: .zero)
            #expect(log.entries.sorted() == ["A x", "B x", "C x"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func whatAHandlerLeavesUnreadIsServedAgain(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note(pipe.read(1) ?? "nothing")
                if log.entries.last == "c" { loop.stop() }
            }
            loop.add(source, forMode: .default)
            pipe.write("abc")
            log.observe(loop, .beforeTimers)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["beforeTimers", "a"])
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries.filter { $0 != "beforeTimers" } == ["a", "b", "c"])
            #expect(log.entries.starts(with: ["beforeTimers", "a", "beforeTimers", "b"]))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func handlerReceivesItsSourceAndTheEvents(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let received = Box<UVRunLoop.DescriptorSource?>(nil)
            let source = try UVRunLoop.DescriptorSource(pipe.writeEnd, events: .writable) {
                source,
                events in
                received.value = source
                log.note(describe(events))
                source.invalidate()
            }
            loop.add(source, forMode: .default)
            #expect(loop.contains(source, forMode: .default))
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(received.value === source)
            #expect(!source.isValid)
            #expect(!loop.contains(source, forMode: .default))
            #expect(log.entries == ["writable"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func twoSourcesOnOneDescriptorEachGetTheirOwnEvent(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            for name in ["A", "B"] {
                let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                    _,
                    events in
                    log.note("\(name) \(describe(events))")
                }
                loop.add(source, forMode: .default)
            }
            pipe.write("x")
            for _ in 1...4 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries.prefix(2).sorted() == ["A readable", "B readable"])
            #expect(log.entries.suffix(2) == log.entries.prefix(2))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceOnASharedDescriptorGoesOnAfterTheOtherLeft(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let leaving = try reader(pipe, log, as: "leaving")
            let staying = try reader(pipe, log, as: "staying")
            loop.add(leaving, forMode: .default)
            loop.add(staying, forMode: .default)
            loop.run(mode: .default, for: .zero)
            leaving.invalidate()
            pipe.write("x")
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(log.entries == ["staying x"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDescriptorKeepsItsEventsUntilItsModeRuns(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let pipe = Pipe()
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.add(try reader(pipe, log, as: "read"), forMode: other)
            loop.run(mode: other, for: .zero)
            pipe.write("x")
            log.observe(loop)
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            let quiet = [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting", "exit",
            ]
            #expect(log.entries == quiet)
            let result = loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == quiet + ["read x"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourcesOfDifferentModesMayShareADescriptor(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let pipe = Pipe()
            for (name, mode) in [("A", UVRunLoop.Mode.default), ("B", other)] {
                let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                    _,
                    _ in log.note(name)
                }
                loop.add(source, forMode: mode)
            }
            pipe.write("x")
            for mode in [.default, other, other, .default] { loop.run(mode: mode, for: .zero) }
            #expect(log.entries == ["A", "B", "B", "A"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func hangUpIsDeliveredOnceAsEveryEventAskedForUntilTheSourceIsAddedAgain(
        kind: DriverKind
    ) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                _,
                events in
                log.note("\(describe(events)), \(pipe.read() == "" ? "end of file" : "data")")
            }
            loop.add(source, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            elsewhere(after: .milliseconds(5), loop) { pipe.closeWriteEnd() }
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["readable hangUp, end of file"])

            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .timedOut)
            #expect(log.entries.count == 1)

            loop.remove(source, forMode: .default)
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries.count == 2)
            #expect(log.entries.last == "readable hangUp, end of file")
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anErrorIsDeliveredOnceAsEveryEventAskedForAndHangUp(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.writeEnd, events: .writable) {
                _,
                events in
                log.note(describe(events))
                withExtendedLifetime(pipe) {}
            }
            loop.add(source, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            pipe.closeReadEnd()
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(log.entries == ["writable hangUp"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func dataWrittenBeforeTheHangUpIsNotLost(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let data = Box("")
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                source,
                events in
                while let text = pipe.read(1), text != "" { data.value += text }
                guard events.contains(.hangUp) else { return }
                log.note("hang-up after \(data.value)")
                source.invalidate()
            }
            loop.add(source, forMode: .default)
            pipe.write("abc")
            pipe.closeWriteEnd()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["hang-up after abc"])
        }
    }
}

private func describe(_ events: UVRunLoop.DescriptorSource.Events) -> String {
    var names: [String] = []
    if events.contains(.readable) { names.append("readable") }
    if events.contains(.writable) { names.append("writable") }
    if events.contains(.hangUp) { names.append("hangUp") }
    return names.joined(separator: " ")
}
