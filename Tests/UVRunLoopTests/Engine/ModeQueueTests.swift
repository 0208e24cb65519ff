import Glibc
import Testing

@testable import UVRunLoop

/// Work that waits for modes to run: the blocks that are for other modes, and perform requests.
@Suite(.timeLimit(.minutes(15))) struct ModeQueueTests {
    private let first = UVRunLoop.Mode("queue first")
    private let second = UVRunLoop.Mode("queue second")
    private let third = UVRunLoop.Mode("queue third")

    @Test func itemsOfAModeComeOutInTheOrderTheyWentIn() {
        var queue = ModeQueue<String>()
        for name in ["A", "B", "C"] { queue.insert(name, for: first.number) }
        queue.expectItems(in: first, ["A", "B", "C"])
        queue.expectItems(in: first, [])
    }

    @Test func commonSharedAndPlainItemsComeOutInOneOrder() {
        var queue = ModeQueue<String>()
        queue.insert("1 plain", for: first.number)
        queue.insert("2 common", for: UVRunLoop.Mode.common.number)
        queue.insert("3 shared", for: [second, first])
        queue.insert("4 other", for: second.number)
        queue.insert("5 shared common", for: [.common, third])
        queue.insert("6 plain", for: first.number)
        queue.insert("7 common", for: [.common])
        queue.insert("8 everywhere", for: [third, .common, first])
        let expected = [
            "1 plain", "2 common", "3 shared", "5 shared common", "6 plain", "7 common",
            "8 everywhere",
        ]
        queue.expectItems(in: first, isCommon: true, expected)
        queue.expectItems(in: third, isCommon: true, [])
        queue.expectItems(in: second, ["4 other"])
        let count = queue.count
        #expect(count == 0)
    }

    @Test func commonItemsWaitForACommonMode() {
        var queue = ModeQueue<String>()
        queue.insert("common", for: [.common])
        let isHeld = (queue.holds(for: first), queue.holds(for: first, isCommon: true))
        #expect(isHeld == (false, true))
        queue.expectItems(in: first, [])
        queue.expectItems(in: first, isCommon: true, ["common"])
    }

    @Test func anItemForSeveralModesIsTakenOnceByTheFirstThatComes() {
        for runner in [first, second, third] {
            var queue = ModeQueue<String>()
            queue.insert("shared", for: [first, second, third])
            let before = queue.count
            #expect(before == 1)
            queue.expectItems(in: runner, ["shared"])
            for mode in [first, second, third] {
                let isHeld = queue.holds(for: mode)
                #expect(!isHeld)
                queue.expectItems(in: mode, [])
            }
            let after = queue.count
            #expect(after == 0)
        }
    }

    @Test func aModeNamedTwiceGetsAnItemOnce() {
        var queue = ModeQueue<String>()
        queue.insert("A", for: [first, first])
        queue.insert("B", for: [first, second, first, second])
        queue.expectItems(in: first, ["A", "B"])
        let isHeld = queue.holds(for: first) || queue.holds(for: second)
        #expect(!isHeld)
        queue.expectItems(in: second, [])
    }

    @Test func itemsTakenElsewhereDoNotHideThoseBehindThem() {
        var queue = ModeQueue<String>()
        queue.insert("shared", for: [first, second])
        queue.insert("plain", for: [second])
        queue.expectItems(in: first, ["shared"])
        let isHeld = queue.holds(for: second)
        #expect(isHeld)
        queue.expectItems(in: second, ["plain"])
    }

    @Test func anItemForNoModeWaitsUntilItIsRemoved() {
        var queue = ModeQueue<String>()
        let ticket = queue.insert("alone", for: [Int]())
        queue.insert("plain", for: [first])
        let (count, item) = (queue.count, queue[ticket])
        #expect(count == 1)
        #expect(item == "alone")
        queue.expectItems(in: first, isCommon: true, ["plain"])
        let removed = (queue.remove(ticket), queue.remove(ticket), queue.count)
        #expect(removed == ("alone", nil, 0))
    }

    @Test(arguments: [31, 32, 33, 34] as [UInt64])
    func theQueueAnswersAsAListThatIsFilteredWould(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = ModeQueue<String>()
        var model: [(name: String, modes: Set<UVRunLoop.Mode>, ticket: Ticket)] = []
        let all = [first, second, third, .common]
        for number in 0..<3000 {
            switch Int.random(in: 0..<7, using: &generator) {
            case 0..<4:
                let count = Int.random(in: 1...3, using: &generator)
                let modes = (0..<count).compactMap { _ in all.randomElement(using: &generator) }
                let ticket = queue.insert("\(number)", for: modes)
                model.append(("\(number)", Set(modes), ticket))
            case 4:
                guard let index = model.indices.randomElement(using: &generator) else { continue }
                let (name, _, ticket) = model.remove(at: index)
                let removed = queue.remove(ticket)
                #expect(removed == name)
            default:
                let mode = [first, second].randomElement(using: &generator) ?? first
                let isCommon = mode == first
                let matches = { (modes: Set<UVRunLoop.Mode>) in
                    modes.contains(mode) || (isCommon && modes.contains(.common))
                }
                let expected = model.filter { matches($0.modes) }.map(\.name)
                model.removeAll { matches($0.modes) }
                let isHeld = queue.holds(for: mode, isCommon: isCommon)
                #expect(isHeld == !expected.isEmpty)
                queue.expectItems(in: mode, isCommon: isCommon, expected)
            }
            let count = queue.count
            #expect(count == model.count)
        }
    }

    @Test func aQueueHandsOverItsItemsInOrderAtTheEnd() {
        var queue = ModeQueue<String>()
        let early = queue.insert("early", for: [first])
        queue.insert("plain", for: [first])
        _ = queue.remove(early)
        queue.insert("shared", for: [first, second])
        queue.insert("common", for: [.common])
        queue.insert("alone", for: [Int]())
        let (items, count) = (queue.removeAll(), queue.count)
        #expect(items == ["plain", "shared", "common", "alone"])
        #expect(count == 0)
        queue.expectItems(in: first, isCommon: true, [])
    }

    @Test func anItemIsNotHeldAfterItWasTaken() {
        for modes in [[first], [first, second]] {
            var queue = ModeQueue<Box<Int>>()
            weak var token: Box<Int>?
            do {
                let strong = Box(1)
                token = strong
                queue.insert(strong, for: modes.map(\.number))
            }
            #expect(token != nil)
            _ = queue.takeNext(for: first.number, isCommon: false)
            #expect(token == nil)
        }
    }

    @Test func entriesDoNotPileUpInAModeThatNeverRuns() async {
        await #expect(processExitsWith: .success) { insertManyItemsForAModeThatNeverRuns() }
    }
}

extension ModeQueue<String> {
    @discardableResult
    fileprivate mutating func insert(_ name: String, for modes: [UVRunLoop.Mode]) -> Ticket {
        insert(name, for: modes.map(\.number))
    }

    fileprivate func holds(for mode: UVRunLoop.Mode, isCommon: Bool = false) -> Bool {
        holdsItem(for: mode.number, isCommon: isCommon)
    }

    /// Takes what a run of the mode would, and compares it.
    fileprivate mutating func expectItems(
        in mode: UVRunLoop.Mode,
        isCommon: Bool = false,
        _ expected: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var items: [String] = []
        while let next = takeNext(for: mode.number, isCommon: isCommon) { items.append(next) }
        #expect(items == expected, sourceLocation: sourceLocation)
    }
}

/// Half a million entries would take tens of megabytes.
private func insertManyItemsForAModeThatNeverRuns() {
    let running = UVRunLoop.Mode("queue running")
    let idle = UVRunLoop.Mode("queue idle")
    var queue = ModeQueue<Int>()
    let before = residentByteCount()
    for number in 0..<500_000 {
        queue.insert(number, for: [running.number, idle.number])
        precondition(queue.takeNext(for: running.number, isCommon: false) == number)
    }
    let growth = residentByteCount() - before
    precondition(growth < 4_000_000, "The queue kept \(growth) bytes.")
    precondition(queue.count == 0)
}
