/// Makes a program smaller for as long as it keeps failing.
package struct Shrinker {
    private let fails: (Program) -> Bool
    private var attempts: Int

    package init(attempts: Int = 3_000, fails: @escaping (Program) -> Bool) {
        self.attempts = attempts
        self.fails = fails
    }

    package mutating func shrink(_ program: Program) -> Program {
        var smallest = program
        while attempts > 0, let smaller = firstFailing(smallest.smallerOnes) { smallest = smaller }
        return smallest.withoutUnusedItems(fails)
    }

    private mutating func firstFailing(_ programs: some Sequence<Program>) -> Program? {
        for program in programs {
            guard attempts > 0 else { return nil }
            attempts -= 1
            if fails(program) { return program }
        }
        return nil
    }
}

extension Program {
    /// Every program that is one step smaller, the boldest steps first.
    fileprivate var smallerOnes: some Sequence<Program> {
        let steps: [() -> [Program]] = [
            { shorter(\.actions) }, { shorter(\.visits) }, { withoutCalls }, { withSimplerItems },
            { withShorterCalls }, { withSimplerActions },
        ]
        return steps.lazy.flatMap { $0() }
    }

    /// Without a half, a quarter, … of a list's elements.
    private func shorter<Element>(_ list: WritableKeyPath<Program, [Element]>) -> [Program] {
        self[keyPath: list].shorterOnes.map { shorter in
            var program = self
            program[keyPath: list] = shorter
            return program
        }
    }

    private var withoutCalls: [Program] {
        items.indices.filter { !items[$0].calls.isEmpty }.flatMap { item in
            items[item].calls.shorterOnes.map { calls in
                var program = self
                program.items[item].calls = calls
                return program
            }
        }
    }

    private var withShorterCalls: [Program] {
        items.indices.flatMap { item in
            items[item].calls.indices.flatMap { call in
                items[item].calls[call].shorterOnes.map { actions in
                    var program = self
                    program.items[item].calls[call] = actions
                    return program
                }
            }
        }
    }

    private var withSimplerItems: [Program] {
        items.indices.flatMap { item in
            items[item].kind.simplerOnes.map { kind in
                var program = self
                program.items[item].kind = kind
                return program
            }
        }
    }

    private var withSimplerActions: [Program] {
        actions.indices.flatMap { index in
            actions[index].simplerOnes.map { action in
                var program = self
                program.actions[index] = action
                return program
            }
        }
            + items.indices.flatMap { item in
                items[item].calls.indices.flatMap { call in
                    items[item].calls[call].indices.flatMap { index in
                        items[item].calls[call][index].simplerOnes.map { action in
                            var program = self
                            program.items[item].calls[call][index] = action
                            return program
                        }
                    }
                }
            }
    }

    /// Renumbers the items, without those that no action names.
    fileprivate func withoutUnusedItems(_ fails: (Program) -> Bool) -> Program {
        let all = actions + visits.flatMap(\.actions) + items.flatMap { $0.calls.joined() }
        let used = Set(all.compactMap(\.item)).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: used.enumerated().map { ($1, $0) })
        func renumbered(_ actions: [Action]) -> [Action] {
            actions.map { $0.withItem { numbers[$0] ?? 0 } }
        }
        let smaller = Program(
            items: used.map { Item(items[$0].kind, items[$0].calls.map(renumbered)) },
            actions: renumbered(actions),
            visits: visits.map { Visit(at: $0.date, renumbered($0.actions)) }
        )
        return fails(smaller) ? smaller : self
    }
}

extension Array {
    /// The array without its halves, quarters, … down to single elements.
    fileprivate var shorterOnes: [[Element]] {
        var result: [[Element]] = []
        var length = count
        while length > 0 {
            for start in stride(from: 0, to: count, by: length) {
                result.append(Array(self[..<start] + self[Swift.min(start + length, count)...]))
            }
            length /= 2
        }
        return result
    }
}

extension Item.Kind {
    fileprivate var simplerOnes: [Item.Kind] {
        switch self {
        case .source(let order): order == 0 ? [] : [.source(order: 0)]
        case .observer(let activities, let repeats, let order):
            (order == 0 ? [] : [.observer(activities, repeats: repeats, order: 0)])
                + (repeats ? [] : [.observer(activities, repeats: true, order: order)])
                + singleBits(activities).map { .observer($0, repeats: repeats, order: order) }
        case .timer(let date, let interval, let tolerance):
            (interval == nil ? [] : [.timer(at: date, interval: nil, tolerance: tolerance)])
                + (tolerance == 0 ? [] : [.timer(at: date, interval: interval, tolerance: 0)])
                + (date == 0 ? [] : [.timer(at: 0, interval: interval, tolerance: tolerance)])
        case .reader, .writer, .port, .block: []
        }
    }

    private func singleBits(_ activities: UInt) -> [UInt] {
        let bits = (0..<8).map { UInt(1) << $0 }.filter { activities & $0 != 0 }
        return bits.count > 1 ? bits : []
    }
}

extension Action {
    fileprivate var simplerOnes: [Action] {
        switch self {
        case .add(let item, let mode) where mode != .main: [.add(item, .main)]
        case .remove(let item, let mode) where mode != .main: [.remove(item, .main)]
        case .run(let mode, let limit, let returns):
            (mode == .main ? [] : [.run(.main, limit: limit, returnsAfterSource: returns)])
                + (returns ? [.run(mode, limit: limit, returnsAfterSource: false)] : [])
        case .perform(let item, let modes) where modes != [.main]: [.perform(item, [.main])]
        case .performLocally(let item, let modes) where modes != [.main]:
            [.performLocally(item, [.main])]
        default: []
        }
    }

    /// The item that the action is about.
    fileprivate var item: Int? {
        var found: Int?
        _ = withItem {
            found = $0
            return $0
        }
        return found
    }

    fileprivate func withItem(_ number: (Int) -> Int) -> Action {
        switch self {
        case .add(let item, let mode): .add(number(item), mode)
        case .remove(let item, let mode): .remove(number(item), mode)
        case .invalidate(let item): .invalidate(number(item))
        case .signal(let item): .signal(number(item))
        case .perform(let item, let modes): .perform(number(item), modes)
        case .performLocally(let item, let modes): .performLocally(number(item), modes)
        case .setDate(let item, let delay): .setDate(number(item), after: delay)
        case .setTolerance(let item, let tolerance): .setTolerance(number(item), tolerance)
        case .fire(let item): .fire(number(item))
        case .write(let item): .write(number(item))
        case .drain(let item): .drain(number(item))
        case .closePeer(let item): .closePeer(number(item))
        case .send(let item, let message): .send(number(item), message)
        case .contains(let item, let mode): .contains(number(item), mode)
        case .isValid(let item): .isValid(number(item))
        case .isSignalled(let item): .isSignalled(number(item))
        case .date(let item): .date(number(item))
        case .wakeUp, .stop, .run, .addCommonMode, .pass, .nextDate, .modes: self
        }
    }
}
