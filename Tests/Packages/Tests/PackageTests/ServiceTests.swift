import ServiceLifecycle
import Testing
import UVRunLoop
import UVRunLoopService

/// A loop's thread as a service: what it serves, and how it ends.
@Suite(.timeLimit(.minutes(15))) struct ServiceTests {
    private let log = EventLog()

    // MARK: The thread

    @Test func loopServesBeforeTheGroupRuns() async throws {
        let service = try UVRunLoop.Service(name: "early")
        let loop = service.runLoop
        let isOnLoop = await Task(executorPreference: loop.taskExecutor) { isOn(loop) }.value
        #expect(isOnLoop)
        try await run(makeGroup(service)) {}
        await expectEnd(of: loop)
    }

    @Test func threadHasTheNameAndTheStackOfTheService() async throws {
        let service = try UVRunLoop.Service(name: "a name", stackSize: 1 << 20)
        let name = try await Task(executorPreference: service.runLoop.taskExecutor) {
            try currentThreadName()
        }.value
        #expect(name == "a name\n")
        #expect(throws: RunLoopError.self) { _ = try UVRunLoop.Service(stackSize: 1) }
    }

    @Test func serviceThatNeverRunsEndsItsThread() async throws {
        await awaitEnd(of: try UVRunLoop.Service(name: "unused").runLoop)
    }

    @Test func serviceThatRunsTwiceTraps() async {
        await #expect(processExitsWith: .failure) {
            let service = try UVRunLoop.Service { _ in }
            try await service.run()
            try await service.run()
        }
    }

    // MARK: Graceful shutdown

    @Test func gracefulShutdownPerformsQueuedWork() async throws {
        let service = try UVRunLoop.Service()
        let loop = service.runLoop
        try await run(makeGroup(service)) {
            keepUntilStopped(loop)
            for number in 0..<3 { loop.perform { log.note("block \(number)") } }
            loop.requestPerform { log.note("request") }
        }
        #expect(log.entries.sorted() == ["block 0", "block 1", "block 2", "request"])
        await expectEnd(of: loop)
    }

    @Test func shutdownBeforeTheGroupRunsEndsTheService() async throws {
        let service = try UVRunLoop.Service()
        let loop = service.runLoop
        loop.perform { log.note("block") }
        let group = makeGroup(service)
        await group.triggerGracefulShutdown()
        try await group.run()
        #expect(log.entries == ["block"])
        await expectEnd(of: loop)
    }

    @Test func bodyUsesItsLoopUntilItReturns() async throws {
        let service = try UVRunLoop.Service { loop in
            try await gracefulShutdown()
            log.note("shutting down")
            try await loop.sleep(for: .milliseconds(1))
            log.note("slept")
            loop.perform { log.note("block") }
        }
        try await run(makeGroup(service)) {}
        #expect(log.entries == ["shutting down", "slept", "block"])
        await expectEnd(of: service.runLoop)
    }

    @Test func sequencesOfTheLoopEndInABody() async throws {
        let service = try UVRunLoop.Service { loop in
            for await _ in loop.ticks(every: .milliseconds(1)).cancelOnGracefulShutdown() {}
            log.note("body")
        }
        try await run(makeGroup(service)) {}
        #expect(log.entries == ["body"])
    }

    @Test func servicesEndFromTheLastToTheFirst() async throws {
        let services = try ["first", "second"].map { (name: String) in
            try UVRunLoop.Service(name: name) { loop in
                try await gracefulShutdown()
                log.note("\(name) shuts down")
                loop.perform { log.note("\(name) performs its block") }
            }
        }
        try await run(makeGroup(services[0], services[1])) {}
        #expect(
            log.entries == [
                "second shuts down", "second performs its block", "first shuts down",
                "first performs its block",
            ]
        )
    }

    @Test func actorOnTheLoopShutsDownBeforeIt() async throws {
        let service = try UVRunLoop.Service()
        let user = LoopUser(on: service.runLoop, log)
        try await run(makeGroup(service, user)) {
            while log.entries.isEmpty { await Task.yield() }
        }
        #expect(log.entries == ["on the loop: true", "after the shutdown: true"])
    }

    // The runtime has as many threads as the machine has cores. If each service kept one, the task
    // that the queued blocks wait for would never run.
    @Test func endOfManyThreadsKeepsNoThreadOfTheRuntime() async throws {
        let services = try (0..<64).map { _ in try UVRunLoop.Service() }
        let gate = Gate()
        for service in services { service.runLoop.perform { gate.wait() } }
        try await withThrowingTaskGroup { tasks in
            for service in services {
                tasks.addTask { try await run(makeGroup(service)) {} }
            }
            tasks.addTask {
                while !services.allSatisfy(\.runLoop.isStopping) { await Task.yield() }
                gate.open()
            }
            try await tasks.waitForAll()
        }
        for service in services { await expectEnd(of: service.runLoop) }
    }

    // MARK: Other ends

    @Test func cancellationDiscardsQueuedWork() async throws {
        let service = try UVRunLoop.Service()
        let loop = service.runLoop
        keepUntilStopped(loop)
        loop.perform { log.note("block") }
        let task = Task { try await makeGroup(service).run() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await expectEnd(of: loop)
        #expect(log.entries == [])
    }

    @Test func cancellationEndsTheWaitsOfABody() async throws {
        let service = try UVRunLoop.Service { loop in
            loop.perform { log.note("runs") }
            try await loop.sleep(for: .seconds(Int64.max))
        }
        let task = Task { try await makeGroup(service).run() }
        while log.entries.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await expectEnd(of: service.runLoop)
    }

    @Test func errorOfTheBodyComesAfterTheEndOfTheThread() async throws {
        let service = try UVRunLoop.Service { loop in
            keepUntilStopped(loop)
            loop.perform { log.note("block") }
            throw BodyError()
        }
        await #expect(throws: BodyError.self) { try await makeGroup(service).run() }
        #expect(log.entries == ["block"])
        await expectEnd(of: service.runLoop)
    }

    @Test func errorOfOneServiceEndsTheOthers() async throws {
        let service = try UVRunLoop.Service()
        let failing = FunctionService { throw BodyError() }
        await #expect(throws: BodyError.self) { try await makeGroup(service, failing).run() }
        await expectEnd(of: service.runLoop)
    }

    @Test func threadThatEndsByItselfEndsTheService() async throws {
        let service = try UVRunLoop.Service()
        service.runLoop.perform { UVRunLoop.Thread.current?.stop() }
        await #expect(throws: ServiceGroupError.self) { try await makeGroup(service).run() }
        await expectEnd(of: service.runLoop)
    }

    @Test func graceThatHasRunOutEndsTheServiceAtOnce() async throws {
        let service = try UVRunLoop.Service { loop in
            try? await gracefulShutdown()
            log.note("shutting down")
            try await loop.sleep(for: .seconds(Int64.max))
        }
        var configuration = ServiceGroupConfiguration(services: [service], logger: silent)
        configuration.maximumGracefulShutdownDuration = .milliseconds(1)
        let group = ServiceGroup(configuration: configuration)
        await #expect(throws: CancellationError.self) { try await run(group) {} }
        #expect(log.entries == ["shutting down"])
        await expectEnd(of: service.runLoop)
    }
}

private struct BodyError: Error {}

/// A service that is an actor on a loop.
private actor LoopUser: Service {
    private let loop: UVRunLoop
    private let log: EventLog

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(on loop: UVRunLoop, _ log: EventLog) {
        self.loop = loop
        self.log = log
    }

    func run() async throws {
        log.note("on the loop: \(isOn(loop))")
        try await gracefulShutdown()
        try await loop.sleep(for: .milliseconds(1))
        log.note("after the shutdown: \(isOn(loop))")
    }
}
