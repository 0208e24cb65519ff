@testable import UVRunLoop

/// The program of the loop's thread: a run that may make another one, and the end of the thread.
///
/// It mirrors `UVRunLoop+Running`, `+Sleeping` and `+Teardown` as far as other threads can notice,
/// with the shipped words. It is cut where its state is known whole, so that two courses which
/// come to the same state are one from there on.
struct LoopProgram {
    let world: World
    let plan: Plan

    /// The actions of the outer run in its first pass.
    struct Plan: Hashable, Sendable {
        enum Nested: Hashable, Sendable { case none, onePass, untilStopped }
        /// From where: a source's handler, after which the pass does not sleep, or an observer that
        /// is told before the sleep, or a block: these make no difference here.
        enum Place: Hashable, Sendable { case source, observer }

        var nested = Nested.none
        var place = Place.source
        /// Whether the loop's thread ends once its run was stopped; else it begins another run.
        var tearsDown = true
        /// Whether the first mode has a timer.
        var hasTimers = false
        /// Whether a limit ends the sleep before the dates of all timers.
        var hasLimit = false

        /// What senders may do.
        var operations: [Operation] {
            if hasLimit { return [.removeTimer, .addTimer, .wakeUp] }
            return hasTimers ? Operation.withTimers : Operation.withoutTimers
        }

        /// When a sleep ends.
        func end(soonest: UInt8) -> UInt8 { hasLimit ? min(soonest, EngineContent.limit) : soonest }
    }

    struct Frame: Hashable {
        /// 0 for the first mode, 1 for the second.
        var mode: Int
        var outer: RunBits
        var version: UInt8
        var holdsItems: Bool
        var isOnePass = false
        var clearedWakeUp = false

        var bit: UInt8 { mode == 0 ? 1 : 2 }
        var name: UVRunLoop.Mode { mode == 0 ? World.first : World.second }
    }

    struct State: Hashable {
        enum Phase: Hashable {
            case start, pass, sleep, tail, end, teardown, draining, ending, over
        }

        var phase = Phase.start
        var frames: [Frame] = []
        var nestedWasMade = false
        var blocks = Blocks()
    }

    /// `UVRunLoop.LocalBlocks`, and `emptyUpTo`.
    struct Blocks: Hashable {
        var reader = World.Reader()
        var waiting: [UInt8] = []
        var emptyUpTo = ModelSegments.noSegment
        /// Where the queue ended when it was closed.
        var end: UInt64 = 0
    }

    /// Goes on from a state to the next one.
    func advance(_ state: inout State) {
        switch state.phase {
        case .start: begin(&state, mode: 0, isOnePass: false)
        case .pass: makePass(&state)
        case .sleep: sleep(&state)
        case .tail: endPass(&state)
        case .end: endRun(&state)
        case .teardown: tearDown(&state)
        case .draining: drain(&state)
        case .ending: finishTeardown(&state)
        case .over: break
        }
    }

    private var recital: Recital { world.recital }

    // MARK: Runs

    /// `UVRunLoop.run(_:_:)` up to its first pass.
    private func begin(_ state: inout State, mode: Int, isOnePass: Bool) {
        let isNested = !state.frames.isEmpty
        let view = world.withEngine { ($0.version, $0.items & (mode == 0 ? 1 : 2) != 0) }
        guard view.1 || holdsBlock(mode, &state.blocks) else {
            state.phase = isNested ? afterNested : .teardown
            return
        }
        recital.noteCall(.beginCalled)
        let outer = world.runs.begin(isNested: isNested)
        recital.note(.begun(mode: mode))
        state.frames.append(
            Frame(
                mode: mode,
                outer: RunBits(outer),
                version: view.0,
                holdsItems: view.1,
                isOnePass: isOnePass
            )
        )
        state.phase = .pass
    }

    private func endRun(_ state: inout State) {
        let frame = state.frames.removeLast()
        recital.noteCall(.endCalled)
        let wasStopped = world.runs.end(restoring: frame.outer.value)
        recital.note(.ended(wasStopped))
        let isEnded = world.runs.isStoppedForGood
        recital.note(.sawEnd(isEnded))
        if !state.frames.isEmpty {
            if frame.clearedWakeUp, !world.has(.wakeUpNotGivenBack) {
                _ = world.wake.markWoken()
            }
            state.phase = afterNested
        } else {
            state.phase = .teardown
        }
    }

    private var afterNested: State.Phase { plan.place == .source ? .tail : .sleep }

    // MARK: Passes

    /// `UVRunLoop.makePasses(_:)` and `runOnePass(_:)` up to the sleep.
    private func makePass(_ state: inout State) {
        if world.runs.isStopped {
            state.phase = .end
            return
        }
        var frame = state.frames.removeLast()
        if world.wake.clearWoken() { frame.clearedWakeUp = true }
        recital.note(.passBegun)
        performBlocks(&frame, &state.blocks)
        let handled = fireSources(&frame)
        if handled { performBlocks(&frame, &state.blocks) }
        state.frames.append(frame)
        let mayNest = plan.nested != .none && !state.nestedWasMade && frame.mode == 0
        let makesNested = mayNest && (plan.place == .source || !handled)
        if makesNested {
            state.nestedWasMade = true
            begin(&state, mode: 1, isOnePass: plan.nested == .onePass)
        } else if handled || frame.isOnePass {
            state.phase = .tail
        } else {
            state.phase = .sleep
        }
    }

    private func endPass(_ state: inout State) {
        var frame = state.frames.removeLast()
        performBlocks(&frame, &state.blocks)
        let ends = decide(&frame, &state.blocks)
        state.frames.append(frame)
        state.phase = ends ? .end : .pass
    }

    /// `UVRunLoop.decide(_:handledSource:)`.
    private func decide(_ frame: inout Frame, _ blocks: inout Blocks) -> Bool {
        if world.runs.isStopped { return true }
        if frame.isOnePass { return true }
        refresh(&frame)
        return !frame.holdsItems && !holdsBlock(frame.mode, &blocks)
    }

    private func refresh(_ frame: inout Frame) {
        guard world.summary.version != UInt64(frame.version) else { return }
        let bit = frame.bit
        (frame.version, frame.holdsItems) = world.withEngine { ($0.version, $0.items & bit != 0) }
    }

    // MARK: Blocks

    private func mayHoldBlocks(_ blocks: Blocks) -> Bool { world.queue.end != blocks.emptyUpTo }

    /// `UVRunLoop.holdsBlocks(for:isCommon:)`.
    private func holdsBlock(_ mode: Int, _ blocks: inout Blocks) -> Bool {
        guard mayHoldBlocks(blocks) else { return false }
        blocks.emptyUpTo = .max
        world.queue.enterNextSegmentAtEnd(&blocks.reader)
        if world.queue.peek(blocks.reader) == SlotMark.first + UInt64(mode) { return true }
        take(&blocks)
        return blocks.waiting.contains { isFor($0, mode) }
    }

    /// `UVRunLoop.performBlocks(_:)`.
    private func performBlocks(_ frame: inout Frame, _ blocks: inout Blocks) {
        guard mayHoldBlocks(blocks) else { return }
        refresh(&frame)
        let mode = frame.mode
        take(&blocks, for: mode)
        for number in blocks.waiting where isFor(number, mode) { recital.note(.ran(number)) }
        blocks.waiting.removeAll { isFor($0, mode) }
        if blocks.waiting.isEmpty, !blocks.reader.hasPassedOver { blocks.emptyUpTo = blocks.end }
    }

    private func take(_ blocks: inout Blocks, for mode: Int? = nil) {
        blocks.end = world.queue.end
        blocks.waiting += world.takeBlocks(&blocks.reader, upTo: blocks.end, for: mode)
        let isEmpty = blocks.waiting.isEmpty && !blocks.reader.hasPassedOver
        blocks.emptyUpTo = isEmpty ? blocks.end : .max
    }

    private func isFor(_ number: UInt8, _ mode: Int) -> Bool { (number < 128) == (mode == 0) }

    /// `UVRunLoop.performSignalledSources(_:)`, for a mode's one source.
    private func fireSources(_ frame: inout Frame) -> Bool {
        guard world.summary.mayHoldSignalledSources else { return false }
        let bit = frame.bit
        let wasSignalled = world.withEngine { engine in
            defer { engine.signals &= ~bit }
            return engine.signals & bit != 0
        }
        if wasSignalled { recital.note(.fired(frame.mode)) }
        return wasSignalled
    }

    // MARK: Step 7

    private enum Decision { case changed, somethingToDo, sleep(until: UInt8) }

    /// One round of `UVRunLoop.sleep(_:)` and `UVDriver.wait(until:now:)`.
    private func sleep(_ state: inout State) {
        var frame = state.frames.removeLast()
        defer { state.frames.append(frame) }
        recital.noteCall(.checkBegun)
        if !world.has(.markRemovedAfterTheCheck) { world.wake.clearChanged() }
        let decision = decideSleep(&frame, &state.blocks)
        if world.has(.markRemovedAfterTheCheck) { world.wake.clearChanged() }
        switch decision {
        case .changed: return
        case .somethingToDo: state.phase = .tail
        case .sleep(let soonest):
            wait(mode: frame.mode, version: frame.version, until: plan.end(soonest: soonest))
            if world.wake.isWoken { state.phase = .tail }
        }
    }

    /// Stores when the sleep ends; where there are no timers nobody reads it.
    private func storePlan(_ end: UInt8, _ version: UInt8) {
        guard plan.hasTimers else { return }
        let version = world.has(.planWithoutVersion) ? 0 : version
        world.plan.begin(until: Int64(end), version: UInt64(version))
    }

    /// `UVDriver.willPoll()`, the poll, and `didPoll()`.
    private func wait(mode: Int, version: UInt8, until end: UInt8) {
        let isLate = world.has(.planAfterFallingAsleep)
        if !isLate { storePlan(end, version) }
        if world.wake.fallAsleep() {
            recital.note(.fellAsleep)
            if isLate { storePlan(end, version) }
            let wait = Step(
                kind: .wait,
                operand: UInt8(mode),
                second: version,
                content: UInt32(end)
            )
            _ = recital.access(wait)
            recital.note(.awoke)
        } else {
            _ = recital.access(Step(kind: .drain))
        }
        world.wake.awaken()
    }

    /// `UVRunLoop.sleepDecision(_:)`, for timers whose dates are all to come.
    private func decideSleep(_ frame: inout Frame, _ blocks: inout Blocks) -> Decision {
        refresh(&frame)
        if world.has(.sleepWithoutACheck) {
            let isOver = world.wake.isWoken || world.runs.isStopped
            return isOver ? .somethingToDo : .sleep(until: .max)
        }
        var hasWork = false
        var version = frame.version
        var end = UInt8.max
        let holdsTimers = plan.hasTimers && frame.mode == 0
        if holdsTimers || world.summary != .nothingToDo(version: UInt64(frame.version)) {
            let (bit, mode) = (frame.bit, frame.mode)
            (version, hasWork, end) = world.withEngine {
                ($0.version, $0.signals & bit != 0, $0.soonest(in: mode))
            }
        }
        if world.wake.isWoken || world.runs.isStopped { return .somethingToDo }
        if version != frame.version { return .changed }
        if hasWork || holdsBlock(frame.mode, &blocks) || !frame.holdsItems { return .somethingToDo }
        return .sleep(until: end)
    }

    // MARK: The end of the thread

    /// `UVRunLoop.tearDown()`.
    private func tearDown(_ state: inout State) {
        state.phase = .over
        guard plan.tearsDown else { return }
        world.withEngine { engine in
            engine.version += 1
            engine.signals = 0
            engine.items = 0
            engine.isClosed = true
        }
        state.blocks.end = world.queue.close()
        for number in state.blocks.waiting { recital.note(.dropped(number)) }
        state.blocks.waiting = []
        state.phase = .draining
    }

    /// One round of `UVRunLoop.closeBlocks()`.
    private func drain(_ state: inout State) {
        let last = world.takeBlocks(&state.blocks.reader, upTo: state.blocks.end)
        for number in last { recital.note(.dropped(number)) }
        if state.blocks.reader.hasPassedOver, !world.has(.teardownWithoutWaiting) { return }
        state.phase = .ending
    }

    private func finishTeardown(_ state: inout State) {
        state.phase = .over
        world.queue.didTakeLast(state.blocks.reader)
        world.closeRemote()
        recital.note(.tornDown)
    }
}

/// A run's word as a loop keeps it for the outer run.
struct RunBits: Hashable {
    private let bits: UInt64

    init(_ value: RunStateValue) { bits = value.bits }

    var value: RunStateValue { RunStateValue(bits: bits) }
}
