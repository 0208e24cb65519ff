import Testing
import UVRunLoop

/// Runs started from inside a callout: every kind of callout, the same mode and another.
@Suite(.timeLimit(.minutes(15))) struct NestingTests {
    @Test(arguments: DriverKind.allCases, Callout.allCases)
    func anyCalloutMayRunTheLoopInAnotherMode(kind: DriverKind, callout: Callout) throws {
        try withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            try callOnce(from: callout, loop) {
                log.note("outer \(loop.nestingLevel) \(loop.currentMode == .default)")
                let timer = UVRunLoop.Timer(after: .zero) { _ in
                    log.note("inner \(loop.nestingLevel) \(loop.currentMode == inner)")
                }
                loop.add(timer, forMode: inner)
                log.note("\(loop.run(mode: inner, for: .seconds(60)))")
                log.note("outer \(loop.nestingLevel) \(loop.currentMode == .default)")
            }
            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .timedOut)
            #expect(log.entries == ["outer 1 true", "inner 2 true", "finished", "outer 1 true"])
            #expect(loop.nestingLevel == 0)
            #expect(loop.currentMode == nil)
        }
    }

    @Test(arguments: DriverKind.allCases, Callout.allCases)
    func anyCalloutMayRunTheLoopInTheSameModeAndStopThatRunOnly(
        kind: DriverKind,
        callout: Callout
    ) throws {
        try withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            try callOnce(from: callout, loop) {
                log.note("outer")
                let timer = UVRunLoop.Timer(after: .zero) { _ in
                    log.note("inner \(loop.nestingLevel)")
                    loop.stop()
                }
                loop.add(timer, forMode: .default)
                log.note("\(loop.run(mode: .default, for: .seconds(60)))")
            }
            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .timedOut)
            #expect(log.entries == ["outer", "inner 2", "stopped"])
        }
    }

    @Test(arguments: DriverKind.allCases, Callout.allCases)
    func aStopOfTheOuterRunDoesNotReachARunStartedAfterIt(
        kind: DriverKind,
        callout: Callout
    ) throws {
        try withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            try callOnce(from: callout, loop) {
                loop.stop()
                loop.add(UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }, forMode: inner)
                log.note("\(loop.run(mode: inner, for: .seconds(60)))")
            }
            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .stopped)
            #expect(log.entries == ["timer", "finished"])
        }
    }

    @Test(arguments: DriverKind.allCases, Callout.allCases)
    func aNestedRunKeepsItsOwnLimit(kind: DriverKind, callout: Callout) throws {
        try withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            try callOnce(from: callout, loop) {
                let limit = loop.now + .milliseconds(5)
                log.note("\(loop.run(mode: .default, until: limit))")
                log.note(loop.now >= limit ? "in time" : "early")
            }
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            #expect(log.entries == ["timedOut", "in time"])
        }
    }

    @Test(arguments: DriverKind.allCases, Callout.allCases)
    func anotherThreadsStopEndsTheNestedRunOnly(kind: DriverKind, callout: Callout) throws {
        try withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            try callOnce(from: callout, loop) {
                elsewhere(after: .milliseconds(20), loop) { loop.stop() }
                log.note("\(loop.run(mode: .default, for: .seconds(60)))")
            }
            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .timedOut)
            #expect(log.entries == ["stopped"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func entryAndExitComeOncePerNestedRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop, as: "outer ")
            log.observe(loop, in: inner, as: "inner ")
            loop.performLocally {
                log.note("block")
                loop.add(UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }, forMode: inner)
                loop.run(mode: inner, for: .seconds(60))
                log.note("block end")
            }
            loop.run(mode: .default, for: .zero)
            let story = [
                "outer entry", "outer beforeTimers", "outer beforeSources", "block",
                "inner entry", "inner beforeTimers", "inner beforeSources", "inner beforeWaiting",
                "inner afterWaiting", "timer", "inner exit",
                "block end", "outer exit",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func runsNestToAnyDepthAndUnwindOneByOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let depth = 40
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            nest(loop, log, until: depth)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == (1...depth).reversed().map { "level \($0)" })
            #expect(loop.nestingLevel == 0)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aNestedRunInAnEmptyModeReturnsAtOnceAndSendsNothing(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let empty = UVRunLoop.Mode(rawValue: "empty")
            log.observe(loop, in: empty)
            loop.performLocally { log.note("\(loop.run(mode: empty, for: nil))") }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["finished"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceHandledByANestedRunIsNotCountedForTheOuterOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: inner)
            loop.performLocally {
                source.signal()
                let result = loop.run(
                    mode: inner,
                    for: .seconds(60),
                    returnAfterSourceHandled: true
                )
                log.note("\(result)")
            }
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .finished)
            #expect(log.entries == ["source", "handledSource"])
        }
    }
}

/// The kinds of callout from which a run may be started.
enum Callout: CaseIterable, Sendable {
    case timer, source, block, descriptor
    case entry, beforeTimers, beforeSources, beforeWaiting, afterWaiting, exit

    fileprivate var activity: UVRunLoop.Activities {
        switch self {
        case .entry: .entry
        case .beforeTimers: .beforeTimers
        case .beforeSources: .beforeSources
        case .beforeWaiting: .beforeWaiting
        case .afterWaiting: .afterWaiting
        case .exit: .exit
        case .timer, .source, .block, .descriptor: []
        }
    }
}

/// Arranges that the next run in the default mode calls `action` once, from such a callout.
private func callOnce(
    from callout: Callout,
    _ loop: UVRunLoop,
    _ action: @escaping () -> Void
) throws {
    switch callout {
    case .timer:
        loop.add(UVRunLoop.Timer(after: .zero) { _ in action() }, forMode: .default)
    case .source:
        let source = UVRunLoop.Source { _ in action() }
        loop.add(source, forMode: .default)
        source.signal()
    case .block:
        loop.performLocally { action() }
    case .descriptor:
        let pipe = Pipe()
        pipe.write("x")
        let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
            _ = pipe.read()
            action()
        }
        loop.add(source, forMode: .default)
    case .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit:
        let observer = UVRunLoop.Observer(activities: callout.activity, repeats: false) { _, _ in
            action()
        }
        loop.add(observer, forMode: .default)
    }
}

/// Runs the loop from blocks, one inside the other, and stops each run in turn.
private func nest(_ loop: UVRunLoop, _ log: EventLog, until depth: Int) {
    loop.performLocally {
        if loop.nestingLevel < depth {
            nest(loop, log, until: depth)
            loop.run(mode: .default, for: .seconds(60))
        }
        log.note("level \(loop.nestingLevel)")
        loop.stop()
    }
}
