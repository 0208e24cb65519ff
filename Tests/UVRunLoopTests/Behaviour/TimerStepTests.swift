import Testing
import UVRunLoop

/// In which pass a timer fires whose date comes while a handler runs: timers fire in step 9, all
/// that are due at its beginning.
@Suite(.timeLimit(.minutes(15))) struct TimerStepTests {
    @Test(arguments: DriverKind.allCases)
    func aDateThatPassesDuringAHandlerWaitsForItsEnd(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                log.note("source")
                letTimePass(.milliseconds(5), loop)
                log.note("source end")
                source.invalidate()
            }
            source.signal()
            loop.add(source, forMode: .default)
            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["source", "source end", "timer"])
        }
    }

    /// Step 4 comes before step 9, where timers fire.
    @Test(arguments: DriverKind.allCases)
    func aDateThatPassesDuringACustomSourcesHandlerIsServedInTheSamePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in
                log.note("source")
                addTimerAndLetItsDatePass(loop, log)
            }
            loop.add(source, forMode: .default)
            source.signal()
            log.observe(loop)
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            let story = ["entry", "beforeTimers", "beforeSources", "source", "timer", "exit"]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDateThatPassesDuringABlockOfStepThreeIsServedInTheSamePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.performLocally {
                log.note("block")
                addTimerAndLetItsDatePass(loop, log)
            }
            log.observe(loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            let story = [
                "entry", "beforeTimers", "beforeSources", "block", "beforeWaiting", "afterWaiting",
                "timer", "exit",
            ]
            #expect(log.entries == story)
        }
    }

    /// Step 9 handles one event.
    @Test(arguments: DriverKind.allCases)
    func aDateThatPassesDuringAPortsHandlerWaitsForTheNextPass(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let port = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { port, _ in
                log.note("port \(pipe.read() ?? "without data")")
                addTimerAndLetItsDatePass(loop, log)
                port.invalidate()
            }
            loop.add(port, forMode: .default)
            pipe.write("x")
            log.observe(loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            let story = [
                "entry", "beforeTimers", "beforeSources", "port x", "beforeTimers",
                "beforeSources", "beforeWaiting", "afterWaiting", "timer", "exit",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDateThatPassesDuringABlockOfStepNineWaitsForTheNextPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let first = UVRunLoop.Timer(after: .zero) { _ in
                log.note("first timer")
                loop.performLocally {
                    log.note("block")
                    addTimerAndLetItsDatePass(loop, log)
                }
            }
            loop.add(first, forMode: .default)
            for _ in 1...2 {
                loop.run(mode: .default, for: .zero)
                log.note("returned")
            }
            #expect(log.entries == ["first timer", "block", "returned", "timer", "returned"])
        }
    }
}

/// Has a date pass while a handler runs.
private func addTimerAndLetItsDatePass(_ loop: UVRunLoop, _ log: EventLog) {
    let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") }
    loop.add(timer, forMode: .default)
    letTimePass(.milliseconds(3), loop)
}
