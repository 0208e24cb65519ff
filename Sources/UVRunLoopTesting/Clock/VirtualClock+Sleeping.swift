import UVRunLoop

extension UVRunLoop.VirtualClock {
    /// Blocks the thread of a loop until there is something for the loop.
    ///
    /// Called while the loop's word says that it sleeps.
    ///
    /// - Parameters:
    ///   - number: The loop.
    ///   - date: When there will be something at the latest.
    ///   - nestingLevel: That of the loop's run.
    /// - Returns: What is ready.
    func sleep(_ number: Int, until date: Int64?, nestingLevel: Int) -> [ReadyReport] {
        state.withLock { $0.fallAsleep(number, until: date, nestingLevel: nestingLevel) }
        while true {
            let (step, activity) = state.withLock { ($0.step(of: number), $0.activity) }
            switch step {
            case .wakeUp(let ready): return ready
            case .block(let set): block(set, since: activity)
            case .carryOut(let plan): carryOut(plan)
            case .finish(let action):
                action()
                return []
            }
        }
    }

    /// Waits for one of the descriptors; traps if nothing has happened for the limit.
    private func block(_ set: PollSet, since activity: UInt64) {
        var set = set
        guard !set.poll(milliseconds: milliseconds), limit != nil else { return }
        let sentence = state.withLock { $0.activity == activity ? $0.sentence : nil }
        if let sentence { fail(sentence) }
    }

    /// The limit for poll(2), which counts in milliseconds; negative for none.
    private var milliseconds: CInt {
        limit.map { CInt(clamping: max($0.nanosecondsRoundedUp, 0) / 1_000_000) } ?? -1
    }

    private func carryOut(_ plan: Plan) {
        do {
            // Not on this thread, which is that of a loop.
            try PosixThread(stackSize: nil) { plan.action() }.join()
        } catch {
            fail("No thread could be started for what is planned on a virtual clock: \(error).")
        }
        state.withLock { $0.planDidEnd() }
    }
}
