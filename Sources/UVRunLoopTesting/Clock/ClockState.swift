import UVRunLoop

/// The states of a clock's loops, and the choice of the next step.
///
/// Invariants, all of which hold whenever the clock's lock is free:
///
/// - Time only moves by ``advance(by:)``, which its caller asked for, or by a jump.
/// - A jump is decided under the lock, by a thread whose loop is asleep, and only if no hold is
///   open, no plan is being carried out, every loop is asleep, no loop's word is marked, and no
///   descriptor that a loop watches is ready. Falling asleep, a wake-up, a hold, a plan and a
///   registration of a descriptor all take the lock. The word is what a sender marks first, so a
///   wake-up that has not reached the lock yet is seen, too.
/// - A jump goes to the soonest date of any loop or plan, never beyond it: nothing is passed over.
///   If that date has come, because time was advanced, it is served by the same rules, but for the
///   holds.
/// - A jump makes one loop awake, or begins one plan. So two loops with the same date take turns:
///   the second continues when the first is asleep again.
/// - A loop that is made awake is awake from that moment, not from when its thread notices.
struct ClockState {
    private(set) var now = Self.start
    private(set) var loops: [VirtualLoop] = []
    private var loopCount = 0
    private(set) var plans = PlanQueue()
    private(set) var holds: [Int: String] = [:]
    private var holdCount = 0
    private(set) var isPlanUnderWay = false
    /// Changes whenever something happens to the clock or its loops.
    private(set) var activity: UInt64 = 0

    /// The first time of every clock, in nanoseconds, so that a test sees the same dates each time.
    static let start: Int64 = 1_000_000_000

    /// The last time of every clock: the one after it stands for dates that do not fit.
    private static let last: Int64 = .max - 1

    // MARK: Loops

    /// Adds a loop, which is awake; returns its number.
    mutating func addLoop(_ name: String?, _ wakeState: WakeState, wakeDescriptor: CInt) -> Int {
        activity += 1
        loopCount += 1
        loops.append(
            VirtualLoop(
                number: loopCount,
                name: name,
                wakeState: wakeState,
                wakeDescriptor: wakeDescriptor
            )
        )
        return loopCount
    }

    mutating func removeLoop(_ number: Int) {
        activity += 1
        loops.removeAll { $0.number == number }
        askSleeper()
    }

    mutating func withLoop<Result>(_ number: Int, _ body: (inout VirtualLoop) -> Result) -> Result?
    {
        guard let index = loops.firstIndex(where: { $0.number == number }) else { return nil }
        return body(&loops[index])
    }

    /// Finds what is ready for a loop that is awake, because it makes a pass.
    mutating func poll(_ number: Int, of loop: UVRunLoop) -> [ReadyReport] {
        activity += 1
        return withLoop(number) { state in
            state.loop = Weak(loop)
            return state.findReady()
        } ?? []
    }

    mutating func fallAsleep(_ number: Int, until date: Int64?, nestingLevel: Int = 1) {
        activity += 1
        withLoop(number) { $0.fallAsleep(until: date, nestingLevel: nestingLevel) }
    }

    /// Ends a loop's poll(2), so that it checks its word.
    mutating func wake(_ number: Int) {
        activity += 1
        withLoop(number) { $0.signal() }
    }

    /// Has one of the sleeping loops decide again whether the clock may jump.
    private func askSleeper() {
        loops.first(where: \.isAsleep)?.signal()
    }

    // MARK: Time, holds and plans

    mutating func advance(by nanoseconds: Int64) {
        activity += 1
        let (date, isTooFar) = now.addingReportingOverflow(nanoseconds)
        now = isTooFar ? Self.last : min(date, Self.last)
        askSleeper()
    }

    mutating func hold(_ place: String) -> Int {
        activity += 1
        holdCount += 1
        holds[holdCount] = place
        return holdCount
    }

    mutating func release(hold: Int) {
        guard holds.removeValue(forKey: hold) != nil else { return }
        activity += 1
        askSleeper()
    }

    /// Plans an action, unless the date does not fit.
    mutating func plan(at date: Int64, _ action: @escaping @Sendable () -> Void) {
        guard date <= Self.last else { return }
        activity += 1
        plans.insert(at: date, action)
        askSleeper()
    }

    mutating func takePlans() -> [Plan] { plans.takeAll() }

    mutating func planDidEnd() {
        activity += 1
        isPlanUnderWay = false
        // Those that it woke check their words, and if there are none, one decides again.
        for loop in loops where loop.isAsleep { loop.signal() }
    }

    // MARK: Sleeping

    /// The next step of a sleeping loop's thread.
    enum Step {
        /// Return from the wait, with what is ready.
        case wakeUp([ReadyReport])
        /// Block until one of the descriptors is ready, the loop's own wake event included.
        case block(PollSet)
        case carryOut(Plan)
        /// Call the loop's idle action, and return from the wait.
        case finish(@Sendable () -> Void)
    }

    /// Decides what the thread of a sleeping loop does next.
    mutating func step(of number: Int) -> Step {
        guard let loop = loops.first(where: { $0.number == number }) else { return .wakeUp([]) }
        loop.clearSignal()
        if let step = withLoop(number, { $0.takeIdleStep() }) ?? nil { return step }
        // Until the plan has ended, the loops that it wakes stay asleep; their words are marked. A
        // watched descriptor may be ready all the while, and must not end the poll.
        if isPlanUnderWay { return .block(loop.pollSet(withWatched: false)) }
        let ready = loop.findReady()
        guard loop.isAsleep, !loop.wakeState.isMarked, ready.isEmpty else {
            activity += 1
            withLoop(number) { $0.phase = .awake }
            return .wakeUp(ready)
        }
        return jump(for: number) ?? .block(loop.pollSet(withWatched: true))
    }

    /// Jumps to what comes next, if the clock may; what is due already needs no jump.
    ///
    /// - Returns: What it means for the calling thread; `nil` if nothing.
    private mutating func jump(for number: Int) -> Step? {
        guard loops.allSatisfy({ $0.isAsleep && !$0.wakeState.isMarked }) else { return nil }
        let busy = loops.filter(\.hasReady)
        for loop in busy { loop.signal() }
        guard busy.isEmpty else { return nil }

        let next = loops.indices.filter { loops[$0].date != nil }
            .min { (loops[$0].date ?? .max) < (loops[$1].date ?? .max) }
        let date = next.flatMap { loops[$0].date }
        let soonest = min(date ?? .max, plans.soonest ?? .max)
        guard holds.isEmpty || soonest <= now else { return nil }
        // Of equal dates, the plan's comes first.
        if let plan = plans.takeFirst(until: soonest) { return begin(plan) }
        guard let next, let date else { return announceIdle(to: number) }
        return wake(loopAt: next, at: date, for: number)
    }

    private mutating func wake(loopAt index: Int, at date: Int64, for number: Int) -> Step? {
        activity += 1
        now = max(now, date)
        loops[index].phase = .awake
        if loops[index].number == number { return .wakeUp([]) }
        loops[index].signal()
        return nil
    }

    private mutating func begin(_ plan: Plan) -> Step {
        activity += 1
        now = max(now, plan.date)
        isPlanUnderWay = true
        return .carryOut(plan)
    }

    /// Makes those loops awake that run until nothing happens by itself; of these, only those that
    /// sleep in a nested run, if there are any, because something may happen after that.
    private mutating func announceIdle(to number: Int) -> Step? {
        let isAnyNested = loops.contains(where: \.sleepsNested)
        for index in loops.indices
        where loops[index].idleAction != nil && loops[index].sleepsNested == isAnyNested {
            activity += 1
            loops[index].phase = .awake
            loops[index].isIdle = true
            loops[index].signal()
        }
        return withLoop(number) { $0.takeIdleStep() } ?? nil
    }
}
