import BenchSupport
import UVRunLoop

/// Runs within handlers and between them, and what ends them.
///
/// How each run ends and what it told its observers is checked wherever one is made; this makes
/// more of them, and of odder kinds.
final class NestedTraffic: Traffic {
    private let worker: Worker
    private var observer: UVRunLoop.Observer?
    private var calls: UInt64 = 0

    init(_ worker: Worker) {
        self.worker = worker
        var generator = Generator(worker.scenario?.plan.seed ?? 0, UInt64(worker.index), 5)
        let activities = UVRunLoop.Activities(rawValue: UInt(generator.below(256)))
            .intersection(.all)
        let observer = UVRunLoop.Observer(activities: activities) { [self] observer, step in
            runNow(observer, step)
        }
        self.observer = observer
        for mode in Modes.observed { worker.loop.add(observer, forMode: mode) }
    }

    func act(_ generator: inout Generator) {
        switch generator.below(12) {
        case 0: runUnusedMode(&generator)
        case 1: runUntilFinished(&generator)
        case 2: runAndStop(&generator)
        case 3: stopAnother(&generator)
        default: if worker.book.depth > 0 { runAWhile(&generator) }
        }
    }

    private func runAWhile(_ generator: inout Generator) {
        let limit = [0, 0, 50_000, 500_000, 2_000_000][generator.below(5)]
        worker.tally.count(.runsNested)
        worker.book.run(
            generator.pick(Modes.observed),
            for: .nanoseconds(generator.below(limit + 1)),
            returnAfterSourceHandled: generator.once(in: 3)
        )
    }

    /// A mode that nothing was added to ends at once, whatever the limit.
    private func runUnusedMode(_ generator: inout Generator) {
        let mode = generator.once(in: 2) ? Modes.unused : .common
        let result = worker.book.run(mode, for: generator.once(in: 2) ? nil : .seconds(100))
        demand(result == .finished, "a run of an empty mode to finish at once", "\(result)")
    }

    /// A mode ends with its last timer, in its own time.
    private func runUntilFinished(_ generator: inout Generator) {
        // A run of this mode further out has a timer of its own.
        guard !worker.book.isRunning(Modes.scratch) else { return }
        var fires = 0
        let date = now() + Int64(generator.below(300_000))
        let timer = UVRunLoop.Timer(at: Clock.instant(date)) { [worker] _ in
            worker.book.noteTimer(date: nil)
            fires += 1
            worker.mayAct(UInt64(bitPattern: date))
        }
        worker.loop.add(timer, forMode: Modes.scratch)
        var result = worker.book.run(Modes.scratch, for: nil)
        // Others may stop any run.
        while result == .stopped, timer.isValid {
            result = worker.book.run(Modes.scratch, for: nil)
        }
        demand(
            fires == 1 && (result == .finished || result == .stopped),
            "a run to finish with the only timer of its mode",
            "'\(result)' after \(fires) fires"
        )
        demand(now() >= date, "that timer not to be early", "it early")
    }

    /// A stop ends the innermost run, and that one alone.
    private func runAndStop(_ generator: inout Generator) {
        var hasRun = false
        worker.loop.performLocally(inModes: [.default]) { [worker] in
            hasRun = true
            worker.book.stop()
        }
        // Others may stop any run, and a nested one may take the block.
        while !hasRun { worker.book.run(.default, for: .milliseconds(20)) }
    }

    private func stopAnother(_ generator: inout Generator) {
        guard worker.scenario?.plan.isPatient == false else { return }
        let workload = generator.pick(worker.partners)
        workload.stops.count { workload.loop.stop() }
    }

    /// Runs within an observer.
    private func runNow(_ observer: UVRunLoop.Observer, _ step: UVRunLoop.Activities) {
        demand(observer.activities.contains(step), "a step that was asked for", "\(step.rawValue)")
        calls += 1
        worker.mayAct(SplitMix64.mix(calls))
    }

    func close() {
        observer?.invalidate()
        observer = nil
    }
}
