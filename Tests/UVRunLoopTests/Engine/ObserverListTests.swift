import Testing

@testable import UVRunLoop

/// Whom a notification reaches, and in which order.
@Suite(.timeLimit(.minutes(15))) struct ObserverListTests {
    @Test func observersAreCalledByOrderAndThenAsTheyWereAdded() {
        var lists = ObserverLists<UVRunLoop.Observer>()
        let observers = [3, 1, 2, 1, 3, .min, .max].map { observer(order: $0) }
        for observer in observers { lists.insert(observer) }
        let expected = [5, 1, 3, 2, 0, 4, 6].map { observers[$0] }
        #expect(lists[.entry].elementsEqual(expected) { $0 === $1 })
    }

    @Test(arguments: [61, 62] as [UInt64])
    func theListsAnswerAsAStableSortWould(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var lists = ObserverLists<UVRunLoop.Observer>()
        var model: [UVRunLoop.Observer] = []
        for _ in 0..<300 {
            if Int.random(in: 0..<4, using: &generator) == 0,
                let gone = model.randomElement(
                    using: &generator
                )
            {
                lists.remove(gone)
                model.removeAll { $0 === gone }
            } else {
                let raw = UInt.random(in: 0..<256, using: &generator)
                let order = Int.random(in: -2...2, using: &generator)
                let new = observer(UVRunLoop.Activities(rawValue: raw), order: order)
                lists.insert(new)
                model.append(new)
            }
            for activity in activities {
                let expected = model.enumerated()
                    .filter { $0.element.activities.contains(activity) }
                    .sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
                    .map(\.element)
                #expect(lists[activity].elementsEqual(expected) { $0 === $1 })
            }
        }
    }

    @Test func anObserverIsToldOfWhatItAskedForOnly() {
        var lists = ObserverLists<UVRunLoop.Observer>()
        let some = observer([.beforeWaiting, .exit])
        let all = observer(.all)
        lists.insert(some)
        lists.insert(all)
        for activity in activities {
            let isSome = activity == .beforeWaiting || activity == .exit
            #expect(lists[activity].count == (isSome ? 2 : 1))
        }
        lists.remove(some)
        #expect(activities.allSatisfy { lists[$0].count == 1 })
    }

    @Test func aListThatIsGoneThroughStaysAsItWas() {
        var lists = ObserverLists<UVRunLoop.Observer>()
        let first = observer()
        lists.insert(first)
        var told = 0
        let before = lists
        before.forEach(observing: .entry) { entry in
            lists.insert(self.observer())
            lists.remove(entry)
            told += 1
        }
        #expect(told == 1)
        #expect(lists[.entry].count == 1 && lists[.entry].first !== first)
    }

    @Test func withoutObserversEveryListIsEmpty() {
        var lists = ObserverLists<UVRunLoop.Observer>()
        #expect(activities.allSatisfy { lists[$0].isEmpty })
        let only = observer()
        lists.remove(only)
        lists.insert(only)
        lists.remove(only)
        #expect(activities.allSatisfy { lists[$0].isEmpty })
    }

    private let activities: [UVRunLoop.Activities] = [
        .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
    ]

    private func observer(
        _ activities: UVRunLoop.Activities = .all,
        order: Int = 0
    ) -> UVRunLoop.Observer {
        UVRunLoop.Observer(activities: activities, order: order, sendableHandler: { _, _ in })
    }
}

extension ObserverLists<UVRunLoop.Observer> {
    fileprivate subscript(activity: UVRunLoop.Activities) -> [UVRunLoop.Observer] {
        var observers: [UVRunLoop.Observer] = []
        forEach(observing: activity) { observers.append($0) }
        return observers
    }
}
