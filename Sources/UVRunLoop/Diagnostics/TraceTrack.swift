/// The events of one loop, until they are written.
final class TraceTrack: LoopTrack {
    private struct OpenRun {
        /// `nil` for a run that had begun before the recorder, and whose end is not known.
        let mode: UVRunLoop.Mode?
        let began: Int64
        var pass: (number: Int, began: Int64)?
    }

    private struct State {
        var entries: [TraceEntry] = []
        /// Entries for which there was no room.
        var dropped = 0
        var runs: [OpenRun] = []
        var passCount = 0
        /// When the latest call or sleep has ended, or the latest pass has begun.
        var latest: Int64 = 0
        /// The wake-up that the loop's next sleep ends with.
        var wake: TraceWake?
        /// `nil` once the loop has ended.
        var loop: UVRunLoop?
        var name: String
    }

    let thread: Int32
    /// How many entries may wait to be written; a loop never waits for the disk.
    private let capacity: Int
    private let state: Guarded<State>

    /// Begins the track, on the loop's thread.
    init(_ loop: UVRunLoop, capacity: Int) {
        thread = ThisProcess.currentThread
        self.capacity = capacity
        state = Guarded(State(loop: loop, name: loop.trackName))
    }

    // MARK: The loop's thread

    func record(_ event: LoopEvent) {
        state.withLock { state in
            switch event {
            case .runBegan(let mode, let level, let time):
                while state.runs.count >= level { endRun(&state, nil, at: time) }
                state.runs.append(OpenRun(mode: mode, began: time))
            case .runEnded(let result, let time): endRun(&state, result, at: time)
            case .passBegan(let time, _): beginPass(&state, at: time)
            case .slept(let began, let ended):
                let wake = state.wake.take()
                state.latest = ended
                append(.sleep(TraceSpan(began: began, ended: ended), wake), &state)
            case .called(let call, let began, let ended):
                state.latest = ended
                append(.call(call, TraceSpan(began: began, ended: ended)), &state)
            case .refused(let descriptor, let time):
                append(.moment("descriptor \(descriptor) was refused", at: time), &state)
            case .modeIsUnused(let mode, let time):
                let name = mode.debugDescription
                append(.moment("run in the unused mode \(name)", at: time), &state)
            case .tookBlocks, .performedJobs: break
            }
        }
    }

    private func append(_ entry: TraceEntry, _ state: inout State) {
        if state.entries.count < capacity {
            state.entries.append(entry)
        } else {
            state.dropped += 1
        }
    }

    private func beginPass(_ state: inout State, at time: Int64) {
        endPass(&state, at: time)
        if state.runs.isEmpty { state.runs = [OpenRun(mode: nil, began: time)] }
        state.passCount += 1
        state.latest = time
        state.runs[state.runs.count - 1].pass = (state.passCount, time)
    }

    private func endPass(_ state: inout State, at time: Int64) {
        guard let pass = state.runs.last?.pass else { return }
        append(.pass(number: pass.number, TraceSpan(began: pass.began, ended: time)), &state)
    }

    /// Ends a run; one that had begun before the recorder is not in the timeline.
    private func endRun(
        _ state: inout State,
        _ result: UVRunLoop.RunResult?,
        at time: Int64
    ) {
        let isKnown = state.runs.last?.mode != nil
        endPass(&state, at: isKnown ? time : state.latest)
        guard let run = state.runs.popLast(), let mode = run.mode else { return }
        append(.run(mode, result, TraceSpan(began: run.began, ended: time)), &state)
    }

    /// Records that the loop has ended, and releases it.
    func end() {
        let loop = state.withLock { state in
            while !state.runs.isEmpty { endRun(&state, nil, at: state.latest) }
            if let loop = state.loop { state.name = loop.trackName }
            return state.loop.take()
        }
        withExtendedLifetime(loop) {}
    }

    /// Whether the loop has ended, and the track with it.
    var hasEnded: Bool { state.withLock { $0.loop == nil } }

    // MARK: Other threads

    /// Records that a thread is about to wake the loop.
    func willBeWoken(_ wake: TraceWake) { state.withLock { $0.wake = wake } }

    var name: String {
        let (loop, name) = state.withLock { ($0.loop, $0.name) }
        return loop?.trackName ?? name
    }

    /// Takes what is to be written.
    func take() -> [TraceEntry] {
        state.withLock { state in
            var entries = exchange(&state.entries, with: [])
            let dropped = exchange(&state.dropped, with: 0)
            if dropped > 0 {
                entries.append(.moment("\(dropped) events were dropped", at: monotonicNow()))
            }
            return entries
        }
    }

    /// Ends the runs that go on when the recorder ends.
    func closeRuns(at time: Int64) {
        state.withLock { state in
            while !state.runs.isEmpty { endRun(&state, nil, at: time) }
        }
    }
}
