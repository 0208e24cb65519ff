import Synchronization
import Testing
import UVRunLoop

/// Programs that Apple's guide lists or describes, as far as no other suite has them.
@Suite(.timeLimit(.minutes(15))) struct GuideTests {
    /// Listing 3-1: an observer of everything, a repeating timer, and ten runs until a date.
    @Test(arguments: DriverKind.allCases)
    func tenRunsWithARepeatingTimerAreObservedFromEntryToExit(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let timer = UVRunLoop.Timer(after: .milliseconds(2), interval: .milliseconds(2)) { _ in
                log.note("timer")
            }
            loop.add(timer, forMode: .default)
            for _ in 1...10 {
                log.clear()
                let limit = loop.now + .milliseconds(10)
                // In real time the date may have passed when the run begins, and then it does not
                // sleep.
                let result =
                    kind == .manual
                    ? loop.run(mode: .default, until: limit)
                    : loop.run(mode: .default, for: .milliseconds(10))
                #expect(result == .timedOut)
                #expect(loop.now >= limit)
                let firstPass = [
                    "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting",
                    "timer",
                ]
                #expect(log.entries.starts(with: firstPass))
                #expect(log.entries.count { $0 == "entry" } == 1)
                #expect(log.entries.count { $0 == "exit" } == 1)
                #expect(log.entries.last == "exit")
                // A real clock may pass a date or two during a pass.
                guard kind == .manual else { continue }
                let passes = Array(repeatElement(firstPass.dropFirst(), count: 5).joined())
                #expect(log.entries == ["entry"] + passes + ["exit"])
            }
        }
    }

    /// Listings 3-3 to 3-9: the schedule handler registers the source with its client, the client
    /// leaves commands, signals and wakes, and the cancel handler takes the registration back.
    @Test(arguments: DriverKind.allCases)
    func aClientFindsTheSourceThroughItsScheduleHandlerAndLosesItByCancel(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let client = Client()
            let source = UVRunLoop.Source(
                schedule: { loop, _ in client.register(loop, log) },
                cancel: { _, _ in client.unregister(log) },
                perform: { source in
                    for command in client.takeCommands() {
                        log.note(command)
                        if command == "two" {
                            elsewhere(after: .milliseconds(2), loop) { client.send(["finish"]) }
                        }
                        if command == "finish" { source.invalidate() }
                    }
                }
            )
            client.hold(source)
            loop.add(source, forMode: .default)
            elsewhere(after: .milliseconds(2), loop) { client.send(["one", "two"]) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            client.send(["nobody listens"])
            #expect(log.entries == ["registered", "one", "two", "finish", "unregistered"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceRegistersWithAsManyClientsAsItLikes(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let clients = [Client(), Client(), Client()]
            let source = UVRunLoop.Source(
                schedule: { loop, _ in clients.forEach { $0.register(loop, log) } },
                cancel: { _, _ in clients.forEach { $0.unregister(log) } },
                perform: { source in
                    let commands = clients.flatMap { $0.takeCommands() }
                    commands.forEach { log.note($0) }
                    if commands.contains("finish") { source.invalidate() }
                }
            )
            clients.forEach { $0.hold(source) }
            loop.add(source, forMode: .default)
            for (client, command) in zip(clients, ["one", "two", "finish"]) {
                elsewhere(after: .milliseconds(2), loop) { client.send([command]) }
                let result = loop.run(
                    mode: .default,
                    for: .seconds(60),
                    returnAfterSourceHandled: true
                )
                #expect(result == .handledSource)
            }
            clients.forEach { $0.send(["nobody listens"]) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            let story =
                ["registered", "registered", "registered", "one", "two", "finish"]
                + ["unregistered", "unregistered", "unregistered"]
            #expect(log.entries == story)
        }
    }

    /// Listing 3-10: one timer after 1 s and then every 0.1 s, another every 0.2 s.
    @Test func twoRepeatingTimersKeepToTheirOwnDates() {
        withLoop(.manual) { loop, _ in
            let (start, dates) = (loop.now, Box([String: [Duration]]()))
            for (name, delay, interval) in [("first", 1000, 100), ("second", 200, 200)] {
                let timer = UVRunLoop.Timer(
                    after: .milliseconds(delay),
                    interval: .milliseconds(interval)
                ) { _ in
                    dates.value[name, default: []].append(start.duration(to: loop.now))
                }
                loop.add(timer, forMode: .default)
            }
            loop.run(mode: .default, until: start + .milliseconds(1450))
            let first = [1000, 1100, 1200, 1300, 1400].map { Duration.milliseconds($0) }
            let second = [200, 400, 600, 800, 1000, 1200, 1400].map { Duration.milliseconds($0) }
            #expect(dates.value == ["first": first, "second": second])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDelayRestartedByEveryKeyStrokeEndsAfterTheLastOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            // On a busy machine more than a short delay may pass between two keys.
            let delay = kind == .manual ? Duration.milliseconds(20) : .seconds(3600)
            let search = UVRunLoop.Timer(after: delay) { _ in log.note("search") }
            let keys = UVRunLoop.Timer(after: .milliseconds(2), interval: .milliseconds(2)) {
                keys in
                log.note("key")
                let isLast = log.entries.count == 12
                search.nextFireDate = loop.now + (isLast ? .milliseconds(20) : delay)
                if isLast { keys.invalidate() }
            }
            loop.add(search, forMode: .default)
            loop.add(keys, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == Array(repeating: "key", count: 12) + ["search"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCustomModeKeepsUnimportantSourcesOutOfUrgentWork(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let urgent = UVRunLoop.Mode("urgent")
            let unimportant = UVRunLoop.Source { _ in log.note("unimportant") }
            let important = UVRunLoop.Source { _ in log.note("important") }
            loop.add(unimportant, forMode: .default)
            loop.add(important, forMode: urgent)
            loop.perform {
                unimportant.signal()
                important.signal()
                log.note("urgent work begins")
                loop.run(mode: urgent, for: .zero)
                log.note("urgent work ends")
            }
            loop.run(mode: .default, for: .zero)
            let story = ["urgent work begins", "important", "urgent work ends", "unimportant"]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockHandedOverBeforeTheLoopRunsWaitsUntilItDoes(kind: DriverKind) {
        withLoop(kind) { loop, log in
            onAnotherThread { loop.perform { log.note("block") } }
            letTimePass(.milliseconds(2), loop)
            #expect(log.entries == [])
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["block"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLoopWithOnlyAOneShotTimerEndsOnceItHasFired(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(
                UVRunLoop.Timer(after: .milliseconds(2)) { _ in log.note("timer") },
                forMode: .default
            )
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceOfSomebodyElsesKeepsTheRunGoingWhenOnesOwnIsGone(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let own = UVRunLoop.Source { source in
                log.note("own")
                source.invalidate()
            }
            loop.add(own, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            own.signal()
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            #expect(log.entries == ["own"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theUnconditionalRunServesTheDefaultModeOnly(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let custom = UVRunLoop.Mode("custom")
            for (name, mode) in [("custom", custom), ("default", UVRunLoop.Mode.default)] {
                let source = UVRunLoop.Source { _ in
                    log.note(name)
                    loop.stop()
                }
                loop.add(source, forMode: mode)
                source.signal()
            }
            loop.run()
            #expect(log.entries == ["default"])
        }
    }
}

/// The guide's client of a custom source: it keeps the command buffer and knows where to announce
/// commands.
private final class Client: Sendable {
    private struct State {
        var source: UVRunLoop.Source?
        var loop: UVRunLoop?
        var commands: [String] = []
    }

    private let state = Mutex(State())

    func hold(_ source: UVRunLoop.Source) { state.withLock { $0.source = source } }

    func register(_ loop: UVRunLoop, _ log: EventLog) {
        state.withLock { $0.loop = loop }
        log.note("registered")
    }

    func unregister(_ log: EventLog) {
        state.withLock { $0.loop = nil }
        log.note("unregistered")
    }

    /// Listing 3-9: leave the command, signal, wake.
    func send(_ commands: [String]) {
        let (source, loop) = state.withLock { state in
            state.commands += commands
            return (state.source, state.loop)
        }
        guard let loop else { return }
        source?.signal()
        loop.wakeUp()
    }

    func takeCommands() -> [String] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }
}
