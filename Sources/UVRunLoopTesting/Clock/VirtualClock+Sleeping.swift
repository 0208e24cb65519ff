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
        var quiet: QuietTime?
        while true {
            let (step, activity) = state.withLock { ($0.step(of: number), $0.activity) }
            switch step {
            case .wakeUp(let ready): return ready
            case .block(let set):
                if quiet?.activity != activity {
                    quiet = QuietTime(activity: activity, limit: limit)
                }
                if let quiet { block(set, during: quiet) }
            case .carryOut(let plan): carryOut(plan)
            case .finish(let action):
                action()
                return []
            }
        }
    }

    /// Waits for one of the descriptors or a signal; traps if nothing has happened for the limit.
    private func block(_ set: PollSet, during quiet: QuietTime) {
        var set = set
        guard !set.poll(milliseconds: quiet.milliseconds), limit != nil else { return }
        let sentence = state.withLock { $0.activity == quiet.activity ? $0.sentence : nil }
        if let sentence { fail(sentence) }
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
