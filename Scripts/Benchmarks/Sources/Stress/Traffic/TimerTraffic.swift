import UVRunLoop

/// Timers: never early, each once or on its grid, and never after they were cancelled.
final class TimerTraffic: Traffic {
    private static let window = 100

    private let worker: Worker
    private var single: [SingleTimer] = []
    private var repeating: [RepeatingTimer] = []
    private var foreign: [ForeignTimer] = []

    init(_ worker: Worker) { self.worker = worker }

    func act(_ generator: inout Generator) {
        switch generator.below(20) {
        case 0...6: addSingle(&generator)
        case 7...9: if let timer = pickSingle(&generator) { timer.setDate(&generator) }
        case 10...11: if let timer = pickSingle(&generator) { timer.cancel() }
        case 12: moveSingle(&generator)
        case 13...14: addRepeating(&generator)
        case 15: if let timer = pickRepeating(&generator) { timer.setDate(&generator) }
        case 16: if let timer = pickRepeating(&generator) { timer.cancel() }
        case 17...18: addForeign(&generator)
        default: changeForeign(&generator)
        }
    }

    func finishSending() {
        for timer in single { timer.putIn() }
        for timer in repeating { timer.cancel() }
    }

    func close() {
        for timer in single { timer.checkEnd() }
        for timer in repeating { timer.checkEnd() }
        for timer in foreign { timer.checkEnd() }
        (single, repeating, foreign) = ([], [], [])
    }

    // MARK: This thread's own

    private func addSingle(_ generator: inout Generator) {
        single.removeAll(where: \.hasEnded)
        guard single.count < Self.window else { return }
        single.append(SingleTimer(worker, &generator))
    }

    private func pickSingle(_ generator: inout Generator) -> SingleTimer? {
        single.isEmpty ? nil : generator.pick(single)
    }

    private func moveSingle(_ generator: inout Generator) {
        // A patient thread would wait for it for ever.
        guard worker.scenario?.plan.isPatient == false, let timer = pickSingle(&generator) else {
            return
        }
        if generator.once(in: 2) { timer.takeOut() } else { timer.putIn() }
    }

    private func addRepeating(_ generator: inout Generator) {
        repeating.removeAll(where: \.hasEnded)
        guard repeating.count < Self.window / 20 else { return }
        repeating.append(RepeatingTimer(worker, &generator))
    }

    private func pickRepeating(_ generator: inout Generator) -> RepeatingTimer? {
        repeating.isEmpty ? nil : generator.pick(repeating)
    }

    // MARK: In other threads' loops

    private func addForeign(_ generator: inout Generator) {
        foreign.removeAll(where: \.hasEnded)
        guard foreign.count < Self.window else { return }
        let timer = ForeignTimer(in: generator.pick(worker.partners), worker.settings.fault)
        timer.start(&generator)
        foreign.append(timer)
    }

    private func changeForeign(_ generator: inout Generator) {
        guard worker.scenario?.plan.isGentle == false, !foreign.isEmpty else { return }
        let timer = generator.pick(foreign)
        if generator.once(in: 2) {
            worker.tally.count(.timersRedated)
            timer.setDate(&generator)
        } else if timer.cancel() {
            worker.tally.count(.timersCancelled)
        }
    }
}
