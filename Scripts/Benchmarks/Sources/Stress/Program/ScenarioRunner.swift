import BenchSupport
import Glibc
import BenchSystem
import UVRunLoop

/// Begins and ends the scenarios, from the main thread's loop.
final class ScenarioRunner {
    private let settings: Settings
    private let loop = UVRunLoop.main
    private let homes: [WorkerHome]
    private let outsiders: [Outsider]
    private var addresses: [WorkerHome.Address] = []
    private var threads: [PosixThread] = []
    private var stopSources: [UVRunLoop.SignalSource] = []
    /// The present scenario, for the watchdog too.
    private let scenario = Locked<Scenario?>(nil)
    private var scenarioCount = 0
    /// The timers that see to the end of the present scenario.
    private var endTimers: [UVRunLoop.Timer] = []
    private var actedFor: Int64 = 0
    /// The signal that ended the run of the program early.
    private var interruption: CInt?
    private let start = now()

    init(_ settings: Settings) {
        self.settings = settings
        homes = (0..<settings.threads).map { _ in WorkerHome() }
        outsiders = (0..<settings.outsiders).map { Outsider($0, settings, Tally()) }
    }

    /// Makes as many scenarios as there is time for.
    func run() -> Summary {
        watchSignals()
        warmUp()
        let before = ProcessFigures()
        let account = Account(homes, start)
        Verdict.scene.withLock { [settings] in
            ($0.settings, $0.start, $0.account) = (settings, account.start, { account.text })
        }
        let watchdog = makeWatchdog()
        let watching = watchdog.start()
        startWorkers()
        let progress = UVRunLoop.Timer(after: .milliseconds(500), interval: .milliseconds(500)) {
            [self] _ in
            showProgress(account)
        }
        loop.add(progress, forMode: .default)
        beginScenario()
        loop.run(mode: .default, for: nil)
        progress.invalidate()
        let lateness = endWorkers()
        watchdog.stop()
        watching.join()
        Output.showProgress("")
        defer { for source in stopSources { source.invalidate() } }
        return Summary(
            settings: settings,
            scenarios: scenarioCount,
            time: now() - start,
            interruption: interruption,
            account: account,
            lateness: lateness,
            before: before,
            after: ProcessFigures()
        )
    }

    /// For its first exact date a loop takes another descriptor, which it keeps.
    ///
    /// On a busy machine the date may have come before the loop would sleep.
    private func warmUp() {
        let before = ProcessFigures().descriptors
        var delay = Duration.milliseconds(20)
        while ProcessFigures().descriptors == before, delay < .seconds(2) {
            let timer = UVRunLoop.Timer(after: delay) { [loop] _ in loop.stop() }
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: nil)
            delay *= 2
        }
        guard settings.kinds.contains(.forks) else { return }
        // On a thread of its own, whose loop is as new as a child's.
        PosixThread {
            let failed = ChildProgram.run()
            demand(failed == 0, "loops to work before there is any load", "check \(failed) fail")
        }.join()
    }

    private func makeWatchdog() -> Watchdog {
        Watchdog(patience: settings.patience) { [scenario] in
            scenario.withLock { $0 }?.progress ?? 0
        } explanation: { [scenario] in
            scenario.withLock { $0 }?.account ?? "No scenario was under way."
        }
    }

    // MARK: Workers

    private func startWorkers() {
        for outsider in outsiders { outsider.start() }
        for (index, home) in homes.enumerated() {
            threads.append(
                PosixThread { [settings, outsiders] in
                    bench_name_thread("worker \(index)")
                    Worker(index, settings, home, outsiders).main()
                }
            )
        }
        addresses = homes.map { $0.awaitAddress() }
    }

    private func endWorkers() -> Lateness {
        for address in addresses {
            address.loop.perform { [worker = address.worker] in worker.value.leave() }
        }
        addresses = []
        var lateness = Lateness()
        for home in homes { lateness.add(home.awaitResult()) }
        for thread in threads { thread.join() }
        for outsider in outsiders { outsider.end() }
        scenario.withLock { $0 = nil }
        return lateness
    }

    // MARK: Scenarios

    private func beginScenario() {
        scenarioCount += 1
        let plan = Scenario.Plan(number: scenarioCount, settings: settings)
        let workloads = addresses.enumerated().map { index, address in
            Workload(
                index: index,
                worker: address.worker,
                loop: address.loop,
                stops: address.stops
            )
        }
        let me = Confined(self)
        let scenario = Scenario(plan, settings, workloads) { [loop] in
            loop.perform { me.value.scenarioIsDone() }
        }
        self.scenario.withLock { $0 = scenario }
        Verdict.scene.withLock { $0.scenario = plan.number }
        for workload in workloads {
            workload.loop.perform { [worker = workload.worker] in worker.value.begin(scenario) }
        }
        for outsider in outsiders { outsider.play(scenario) }
        endInTime(scenario)
    }

    /// Ends the scenario's load when its time has come.
    private func endInTime(_ scenario: Scenario) {
        var generator = Generator(scenario.plan.seed, 1)
        let length = min(
            Int64(generator.within(150_000_000...600_000_000)),
            max(settings.time - actedFor, 0)
        )
        actedFor += length
        let timer = UVRunLoop.Timer(after: .nanoseconds(length)) { [self] _ in end(scenario) }
        endTimers = [timer]
        loop.add(timer, forMode: .default)
    }

    /// Has every thread notice the end.
    ///
    /// One for which something is on its way has to wake for that: it is told later, lest the
    /// telling hide that it was not woken.
    private func end(_ scenario: Scenario) {
        guard !scenario.isOver else { return }
        scenario.end()
        var asleep = scenario.workloads
        let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(5)) { timer in
            asleep.removeAll { workload in
                guard workload.outstanding(.atHand) == 0 else { return false }
                workload.nudge()
                return true
            }
            if asleep.isEmpty { timer.invalidate() }
        }
        endTimers.append(timer)
        loop.add(timer, forMode: .default)
    }

    private func scenarioIsDone() {
        for timer in endTimers { timer.invalidate() }
        endTimers = []
        let isOver = actedFor >= settings.time || interruption != nil
        if isOver { loop.stop() } else { beginScenario() }
    }

    // MARK: People

    private func watchSignals() {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGINT, SIGTERM] {
            do {
                let source = try UVRunLoop.SignalSource(number) { [self] _, _ in interrupt(number) }
                loop.add(source, forMode: .default)
                stopSources.append(source)
            } catch {
                Verdict.fail(expected: "a source for a signal", seen: "\(error)")
            }
        }
    }

    /// Ends the present scenario; asked a second time, the process.
    private func interrupt(_ signal: CInt) {
        if interruption != nil {
            Output.showProgress("")
            _exit(128 + signal)
        }
        interruption = signal
        if let scenario = scenario.withLock({ $0 }) { end(scenario) }
    }

    private func showProgress(_ account: Account) {
        let time = Double(now() - start) / 1e9
        let kinds = scenario.withLock { $0 }?.plan.kinds.map(\.name).joined(separator: " ") ?? ""
        Output.showProgress(
            """
            \(Text.decimal(time, 0)) of \(settings.time / 1_000_000_000) s, \
            scenario \(scenarioCount), \(Text.grouped(account.deeds)) operations: \(kinds)
            """
        )
    }
}

extension Scenario {
    /// Changes as the scenario goes on: it has to end in time, and then everything to arrive.
    var progress: Int {
        guard isOver else { return plan.number }
        let passed = Gate.allCases.map { arrivals(at: $0) }.reduce(0, +)
        return plan.number + 1 + passed + workloads.map(\.arrived).reduce(0, +)
    }

    /// How far the threads have come, and what has not arrived.
    var account: String {
        let gates = Gate.allCases.map { "\($0) \(arrivals(at: $0))" }.joined(separator: ", ")
        let manner =
            plan.kinds.map(\.name) + (plan.isObserved ? ["observed"] : [])
            + (plan.isPatient ? ["patient"] : [])
        let workloads = workloads.map { "  " + $0.account }.joined(separator: "\n")
        return """
            Scenario \(plan.number) (\(manner.joined(separator: ", "))), over: \(isOver); \
            of \(self.workloads.count) threads are \(gates). Still to arrive:
            \(workloads)
            """
    }
}
