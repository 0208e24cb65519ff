import TestSupport

/// Makes up programs.
package struct Generator {
    let stage: Stage
    var dice: SeededGenerator
    var items: [Item] = []
    var messages: Int32 = 0

    static let millisecond: Int64 = 1_000_000
    /// Long enough that no test comes to it.
    static let hour: Int64 = 3_600_000 * millisecond

    private init(_ seed: UInt64, _ stage: Stage) {
        self.stage = stage
        // The same seed means another program on the other stage.
        dice = SeededGenerator(seed: stage == .virtual ? seed : ~seed)
    }

    /// The program of a seed.
    package static func program(seed: UInt64, for stage: Stage) -> Program {
        var generator = Generator(seed, stage)
        return generator.makeProgram()
    }

    private mutating func makeProgram() -> Program {
        if dice.oneIn(3) { return makeProgramOfPorts() }
        let count = 2 + dice.below(9)
        items = (0..<count).map { Item(makeKind(order: $0)) }
        if !hasBlock { items.append(Item(.block)) }
        for item in items.indices { items[item].calls = makeCalls(of: item) }
        var actions: [Action] = []
        for item in items.indices where items[item].kind != .block && !dice.oneIn(5) {
            actions.append(.add(item, makeMode()))
        }
        for _ in 0..<1 + dice.below(4) {
            for _ in 0..<dice.below(4) { if let action = makeAction() { actions.append(action) } }
            actions.append(makeRun())
        }
        return Program(items: items, actions: actions, visits: makeVisits())
    }

    private var hasBlock: Bool { items.contains { $0.kind == .block } }

    // MARK: Items

    private mutating func makeKind(order: Int) -> Item.Kind {
        switch dice.below(14) {
        case 0...2: .source(order: dice.below(2))
        case 3...5:
            .observer(makeActivities(), repeats: !dice.oneIn(5), order: dice.below(3))
        case 6...8: makeTimer()
        // No two ports have the same order: the contract leaves open what else decides.
        case 9: .reader(order: dice.oneIn(2) ? order : -order)
        case 10: dice.oneIn(4) ? .writer(order: order) : .reader(order: order)
        case 11: .port(capacity: dice.pick([1, 2, 10]), order: dice.oneIn(2) ? order : -order)
        default: .block
        }
    }

    mutating func makeActivities() -> UInt {
        if dice.oneIn(8) { return 255 }
        let activity = dice.pick([1, 2, 4, 32, 64, 128] as [UInt])
        return dice.oneIn(3) ? activity | dice.pick([1, 2, 4, 32, 64, 128]) : activity
    }

    private mutating func makeTimer() -> Item.Kind {
        guard stage == .virtual else {
            let interval = dice.oneIn(2) ? nil : Self.hour
            let date = dice.oneIn(3) ? Self.hour : -Self.millisecond
            return .timer(at: date, interval: interval, tolerance: 0)
        }
        let interval = dice.oneIn(2) ? nil : dice.pick([-1, 0, 1, 2, 3, 7]) * Self.millisecond
        let tolerance = dice.oneIn(6) ? makeDelay() : 0
        return .timer(at: makeDelay(), interval: interval, tolerance: tolerance)
    }

    /// A few dates, so that some are the same.
    private mutating func makeDelay() -> Int64 {
        guard stage == .virtual else {
            return dice.pick([Self.hour, 0, -Self.millisecond, -Self.hour])
        }
        let halves = dice.pick([-20, -2, 0, 0, 1, 2, 2, 3, 4, 6, 10, 16, 40, 4_000])
        return Int64(halves) * Self.millisecond / 2
    }

    // MARK: Actions

    private mutating func makeCalls(of item: Int) -> [[Action]] {
        var calls: [[Action]] = []
        for _ in 0..<dice.below(5) { calls.append(makeCall(of: item)) }
        return calls
    }

    private mutating func makeCall(of item: Int) -> [Action] {
        var actions: [Action] = []
        if case .reader = items[item].kind, !dice.oneIn(4) { actions.append(.drain(item)) }
        for _ in 0..<dice.pick([0, 1, 1, 1, 2, 2, 3]) {
            if let action = dice.oneIn(8) ? makeRun() : makeAction() { actions.append(action) }
        }
        return actions
    }

    private mutating func makeRun() -> Action {
        let limit: Int64?
        if stage == .virtual {
            limit =
                dice.oneIn(8)
                ? nil : dice.pick([-1, 0, 0, 1, 2, 3, 5, 10, 30]) * Self.millisecond
        } else {
            limit = dice.pick([nil, 0, -Self.millisecond, Self.hour])
        }
        return .run(
            dice.oneIn(30) ? .common : makeRunMode(),
            limit: limit,
            returnsAfterSource: dice.oneIn(3)
        )
    }

    private mutating func makeRunMode() -> ModeName {
        dice.pick([.main, .main, .main, .first, .first, .second])
    }

    private mutating func makeMode() -> ModeName {
        dice.pick([.main, .main, .main, .main, .first, .first, .second, .common])
    }

    private mutating func makeModes() -> [ModeName] {
        dice.oneIn(4) ? [makeMode(), makeMode()] : [makeMode()]
    }

    mutating func makeAction() -> Action? {
        switch dice.below(20) {
        case 0...9: makeActionOnItem(dice.below(items.count))
        case 10, 11: .wakeUp
        case 12: .stop
        case 13: pick { $0 == .block }.map { .perform($0, makeModes()) }
        case 14: pick { $0 == .block }.map { .performLocally($0, makeModes()) }
        case 15: .addCommonMode(dice.pick(ModeName.allCases))
        case 16, 17: stage == .virtual ? .pass(dice.pick([1, 2, 3, 5, 14]) * 500_000) : nil
        case 18: .modes
        default: stage == .virtual ? .nextDate(dice.pick(ModeName.allCases)) : .wakeUp
        }
    }

    private mutating func pick(_ isMeant: (Item.Kind) -> Bool) -> Int? {
        items.indices.filter { isMeant(items[$0].kind) }.randomElement(using: &dice)
    }

    private mutating func makeActionOnItem(_ item: Int) -> Action? {
        guard items[item].kind != .block else {
            return dice.oneIn(2) ? .perform(item, makeModes()) : .performLocally(item, makeModes())
        }
        switch dice.below(16) {
        case 0, 1, 2: return .add(item, makeMode())
        case 3, 4: return .remove(item, makeMode())
        case 5: return dice.oneIn(2) ? .invalidate(item) : .isValid(item)
        case 6: return .contains(item, makeMode())
        default: return makeSpecialAction(item)
        }
    }

    private mutating func makeSpecialAction(_ item: Int) -> Action? {
        switch items[item].kind {
        case .source: return dice.oneIn(8) ? .isSignalled(item) : .signal(item)
        case .timer:
            switch dice.below(8) {
            case 0: return .fire(item)
            case 1 where stage == .virtual: return .setTolerance(item, makeDelay())
            case 2, 3: return stage == .virtual ? .date(item) : .isValid(item)
            default: return .setDate(item, after: makeDelay())
            }
        case .reader:
            switch dice.below(8) {
            case 0: return .closePeer(item)
            case 1: return .drain(item)
            default: return .write(item)
            }
        case .writer: return dice.oneIn(3) ? .closePeer(item) : nil
        case .port:
            messages += 1
            return .send(item, messages)
        case .observer, .block: return nil
        }
    }

    // MARK: Visits

    mutating func makeVisits() -> [Visit] {
        guard dice.oneIn(2) else { return [] }
        var visits: [Visit] = []
        for _ in 0..<1 + dice.below(4) {
            let date = max(makeDelay(), 0)
            let actions = stage == .virtual ? makeVirtualVisit() : makeRealVisit()
            if !actions.isEmpty { visits.append(Visit(at: date, actions)) }
        }
        return visits.sorted { $0.date < $1.date }
    }

    private mutating func makeVirtualVisit() -> [Action] {
        var actions: [Action] = []
        for _ in 0..<1 + dice.below(2) {
            guard let action = makeAction(), action.isForAnyThread else { continue }
            // On other threads a date is compared with the real clock.
            if case .setDate = action { continue }
            actions.append(action)
            // The contract leaves open whether a signal that comes while the loop sleeps is seen
            // before something else ends the sleep.
            if case .signal = action { actions.append(.wakeUp) }
        }
        return actions
    }

    /// One action, because the loop is awake as soon as it is done.
    private mutating func makeRealVisit() -> [Action] {
        guard let action = makeAction() else { return [] }
        switch action {
        case .wakeUp, .stop, .perform, .write, .closePeer, .send: return [action]
        case .setDate(let item, _): return [.setDate(item, after: 0)]
        default: return [.wakeUp]
        }
    }
}

extension Action {
    /// Whether it needs neither the loop's thread nor the program's trace.
    fileprivate var isForAnyThread: Bool {
        switch self {
        case .run, .performLocally, .fire, .drain, .pass, .contains, .isValid, .isSignalled, .date,
            .nextDate, .modes:
            false
        default: true
        }
    }
}
