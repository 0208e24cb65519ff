extension UVRunLoop {
    /// How far a run may go on serving what it knows to be ready before it asks the kernel again.
    static let omissionsInARow = 64
    /// Nanoseconds, for as many omissions.
    ///
    /// A look that found more may do for all of it: where very much is ready, looks are dear.
    static let timeWithoutLook: Int64 = 1_000_000

    // MARK: Steps 5 and 7

    /// Step 5: whether a port-based source of the mode is ready.
    ///
    /// When nobody is told of sleeping, the sleep itself asks this: a ready port ends it at once,
    /// and one call to the kernel does for both.
    func findReadyPort(_ run: inout Run) -> Bool {
        refresh(&run)
        guard run.view.holdsPorts else { return false }
        let mode = run.modeIndex
        let hasLooked = run.latestLook != nil
        if hasLooked, mayHoldReady, withEngine({ $0.hasReadyPort(in: mode) }),
            mayLeaveOutLook(&run)
        {
            return true
        }
        guard run.view.isSleepObserved else { return false }
        askKernel(&run)
        return mayHoldReady && withEngine { $0.hasReadyPort(in: mode) }
    }

    /// Asks the kernel what is ready, without waiting, unless the latest answer is still good.
    func look(_ run: inout Run) {
        if !mayLeaveOutLook(&run) { askKernel(&run) }
    }

    private func askKernel(_ run: inout Run) {
        armDescriptors(&run)
        run.driver.look()
        noteReadyPorts(&run)
    }

    /// Step 7: sleeps until there is something to do for the run.
    ///
    /// The mark in the word is removed before the contents are looked at, and the driver falls
    /// asleep only if it is still not there: whatever comes meanwhile is seen by the look or keeps
    /// the driver awake. What changes nothing for this run, such as another thread's new timer, is
    /// taken into account without leaving.
    func sleep(_ run: inout Run) {
        var hasLooked = false
        while true {
            word.beginLook()
            noteMainQueue()
            switch outlook(&run) {
            case .changed: continue
            case .somethingToDo:
                if !hasLooked { look(&run) }
                return
            case .sleep(let moment, let now):
                run.driver.wait(until: moment, now: now)
                noteReadyPorts(&run)
                hasLooked = true
            }
        }
    }

    /// What a look at the contents says about the coming sleep.
    private enum Outlook {
        case somethingToDo
        case sleep(until: Moment?, now: Int64)
        /// The contents changed after the descriptors were seen to.
        case changed
    }

    private func outlook(_ run: inout Run) -> Outlook {
        refresh(&run)
        let mode = run.modeIndex
        let (orders, contents) = withEngine { engine in
            (engine.takeWatchOrders(for: mode), engine.sleepView(of: mode))
        }
        if !orders.isEmpty { watch(orders, &run) }
        if word.isWoken || innermostRun.isStopped { return .somethingToDo }
        guard orders.isEmpty, contents.version == run.view.version else { return .changed }
        let (name, isCommon) = (run.mode, run.view.isCommon)
        let hasBlock = withInbox { $0.holdsBlock(for: name, isCommon: isCommon) }
        if contents.hasWork || hasBlock || !run.view.holdsItems { return .somethingToDo }
        let next = min(contents.soonest ?? .max, run.limit ?? .max)
        guard next < .max else { return .sleep(until: nil, now: 0) }
        let now = remote.now
        if next <= now { return .somethingToDo }
        return .sleep(
            until: .earlier(
                contents.deadline.map(Moment.init),
                run.limit.map { Moment(limit: $0, now: now) }
            ),
            now: now
        )
    }

    // MARK: The kernel

    /// Whether the latest look of this run is recent enough to do for another one, which counts as
    /// left out then.
    private func mayLeaveOutLook(_ run: inout Run) -> Bool {
        guard var latest = run.latestLook, latest.askCount == askCount.load(ordering: .acquiring),
            latest.number == lookCount.load(ordering: .relaxed),
            latest.omissions < latest.mostOmissions, remote.now < latest.end
        else { return false }
        latest.omissions += 1
        run.latestLook = latest
        return true
    }

    /// Has the kernel watch what this run may serve and it does not watch yet: usually nothing.
    private func armDescriptors(_ run: inout Run) {
        refresh(&run)
        guard run.view.holdsPorts, mayHoldUnwatched else { return }
        let mode = run.modeIndex
        let orders = withEngine { $0.takeWatchOrders(for: mode) }
        if !orders.isEmpty { watch(orders, &run) }
    }

    private func watch(_ orders: [WatchOrder], _ run: inout Run) {
        let mode = run.modeIndex
        run.driver.watch(orders) { order in
            withEngine { $0.isCurrent(order) }
        } refused: { order in
            withEngine { $0.noteRefusal(of: order, in: mode) }
        }
    }

    /// Takes down which ports the kernel found ready, and has it keep quiet about those this run
    /// may not serve.
    private func noteReadyPorts(_ run: inout Run) {
        let number = lookCount.load(ordering: .relaxed) + 1
        lookCount.store(number, ordering: .relaxed)
        var found = 0
        if run.driver.hasReady {
            found = noteReports(of: number, &run)
        } else if run.view.holdsPorts, mayHoldReady {
            withEngine { $0.look = number }
        }
        // A run that ends with the next source as a rule needs no second look.
        guard !run.limitWasPast, !run.returnsAfterSource else { return }
        let turns = max(1, found / Self.omissionsInARow)
        run.latestLook = Run.Look(
            end: remote.now + Int64(turns) * Self.timeWithoutLook,
            mostOmissions: turns * Self.omissionsInARow,
            version: publishedVersion,
            askCount: askCount.load(ordering: .acquiring),
            number: number
        )
    }

    /// Notes what the driver reports of a look; answers how much it is.
    private func noteReports(of look: Int64, _ run: inout Run) -> Int {
        let mode = run.modeIndex
        let driver = run.driver
        var count = 0
        driver.forEachReady { report in
            count += 1
            let order = withEngine { engine in
                if engine.look != look { engine.look = look }
                return engine.note(report, in: mode)
            }
            guard let order else { return }
            let isCarriedOut = driver.rearm(order)
            if !isCarriedOut { withEngine { $0.noteUnwatched(order.descriptor) } }
        }
        return count
    }
}
