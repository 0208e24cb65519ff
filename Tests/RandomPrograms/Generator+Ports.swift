/// Programs of few items that are all about the order of ports: several short runs in one or two
/// modes, ports and descriptors that have their turns one after the other, data that others read,
/// and polls that find nothing.
extension Generator {
    mutating func makeProgramOfPorts() -> Program {
        let count = 3 + dice.below(4)
        items = (0..<count).map { Item(makePortKind(at: $0)) }
        let modes: [ModeName] = dice.oneIn(2) ? [.main] : [.main, .first]
        for item in items.indices { items[item].calls = makePortCalls(of: item, modes) }
        var actions: [Action] = []
        for item in items.indices where items[item].kind != .block {
            actions += makeAdditions(of: item, modes)
        }
        for _ in 0..<2 + dice.below(5) {
            for _ in 0..<dice.pick([0, 1, 1, 2, 3]) { actions.append(makePortAction(modes)) }
            actions.append(makeShortRun(modes))
        }
        let visits = dice.oneIn(3) ? makeVisits() : []
        return Program(items: items, actions: actions, visits: visits)
    }

    /// Two descriptors at least, and a port in two of three programs.
    private mutating func makePortKind(at index: Int) -> Item.Kind {
        let order = dice.oneIn(2) ? index : -index
        switch index < 2 ? 0 : index == 2 && !dice.oneIn(3) ? 3 : dice.below(11) {
        case 0...2: return .reader(order: order)
        case 3...5: return .port(capacity: dice.pick([1, 2, 10, 10]), order: order)
        case 6, 7: return makeShortTimer()
        case 8: return .observer(makeActivities(), repeats: true, order: index)
        case 9: return dice.oneIn(3) ? .writer(order: order) : .source(order: index)
        default: return .block
        }
    }

    private mutating func makeShortTimer() -> Item.Kind {
        guard stage == .virtual else {
            return .timer(at: -Self.millisecond, interval: nil, tolerance: 0)
        }
        let interval = dice.oneIn(3) ? nil : dice.pick([1, 2, 3]) * Self.millisecond
        let date = dice.pick([0, 0, 1, 2, 4, 6]) * Self.millisecond / 2
        return .timer(at: date, interval: interval, tolerance: 0)
    }

    /// In one of the modes, in each of them, or in the common ones.
    private mutating func makeAdditions(of item: Int, _ modes: [ModeName]) -> [Action] {
        switch dice.below(8) {
        case 0: []
        case 1: [.add(item, .common)]
        case 2...4: modes.map { .add(item, $0) }
        default: [.add(item, dice.pick(modes))]
        }
    }

    private mutating func makePortCalls(of item: Int, _ modes: [ModeName]) -> [[Action]] {
        var calls: [[Action]] = []
        for _ in 0..<1 + dice.below(5) {
            var actions: [Action] = []
            if case .reader = items[item].kind, !dice.oneIn(5) { actions.append(.drain(item)) }
            for _ in 0..<dice.pick([0, 1, 1, 2, 2, 3]) { actions.append(makePortAction(modes)) }
            if dice.oneIn(16) { actions.append(makeShortRun(modes)) }
            calls.append(actions)
        }
        return calls
    }

    private mutating func makeShortRun(_ modes: [ModeName]) -> Action {
        let limit: Int64?
        if stage == .virtual {
            limit = dice.oneIn(12) ? nil : dice.pick([-1, 0, 1, 1, 2, 3, 5]) * Self.millisecond
        } else {
            limit = dice.pick([nil, 0, -Self.millisecond, Self.hour])
        }
        return .run(dice.pick(modes), limit: limit, returnsAfterSource: dice.oneIn(3))
    }

    private mutating func makePortAction(_ modes: [ModeName]) -> Action {
        let item = dice.below(items.count)
        switch dice.below(12) {
        // Longer and shorter than the result of a poll may be reused.
        case 0, 1: return stage == .virtual ? .pass(dice.pick([1, 2, 3, 4]) * 500_000) : .wakeUp
        case 2: return dice.pick([.stop, .wakeUp])
        case 3: return makeAction() ?? .wakeUp
        default: break
        }
        switch items[item].kind {
        case .reader: return dice.oneIn(3) ? .drain(item) : .write(item)
        case .port:
            messages += 1
            return .send(item, messages)
        case .timer:
            return stage == .virtual
                ? .setDate(item, after: dice.pick([0, 1, 2, 3]) * Self.millisecond)
                : .setDate(item, after: 0)
        case .source: return .signal(item)
        case .block:
            return dice.oneIn(2)
                ? .perform(item, [dice.pick(modes)]) : .performLocally(item, [dice.pick(modes)])
        case .observer, .writer:
            return dice.oneIn(2) ? .add(item, dice.pick(modes)) : .remove(item, dice.pick(modes))
        }
    }
}
