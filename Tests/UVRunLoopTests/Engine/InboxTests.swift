import Glibc
import Testing

@testable import UVRunLoop

/// The blocks that wait for a loop.
@Suite(.timeLimit(.minutes(15))) struct InboxTests {
    private let first = UVRunLoop.Mode("inbox first")
    private let second = UVRunLoop.Mode("inbox second")
    private let third = UVRunLoop.Mode("inbox third")

    @Test func blocksOfAModeComeOutInTheOrderTheyWentIn() {
        var inbox = Inbox()
        let log = EventLog()
        for name in ["A", "B", "C"] { inbox.post(log, name, to: first) }
        inbox.expectRun(of: first, log, ["A", "B", "C"])
        inbox.expectRun(of: first, log, [])
    }

    @Test func commonSharedAndPlainBlocksComeOutInOneOrder() {
        var inbox = Inbox()
        let log = EventLog()
        inbox.post(log, "1 plain", to: first)
        inbox.post(log, "2 common", to: .common)
        inbox.post(log, "3 shared", to: [second, first])
        inbox.post(log, "4 other", to: second)
        inbox.post(log, "5 shared common", to: [.common, third])
        inbox.post(log, "6 plain", to: first)
        inbox.post(log, "7 common", to: .common)
        inbox.post(log, "8 everywhere", to: [third, .common, first])
        let expected = [
            "1 plain", "2 common", "3 shared", "5 shared common", "6 plain", "7 common",
            "8 everywhere",
        ]
        inbox.expectRun(of: first, isCommon: true, log, expected)
        inbox.expectRun(of: third, isCommon: true, log, [])
        inbox.expectRun(of: second, log, ["4 other"])
        let count = inbox.count
        #expect(count == 0)
    }

    @Test func commonBlocksWaitForACommonMode() {
        var inbox = Inbox()
        let log = EventLog()
        inbox.post(log, "common", to: .common)
        let isHeld = (
            inbox.holdsBlock(for: first.number, isCommon: false),
            inbox.holdsBlock(for: first.number, isCommon: true)
        )
        #expect(isHeld == (false, true))
        inbox.expectRun(of: first, log, [])
        inbox.expectRun(of: first, isCommon: true, log, ["common"])
    }

    @Test func aBlockForSeveralModesRunsOnceInTheFirstThatComes() {
        for runner in [first, second, third] {
            var inbox = Inbox()
            let log = EventLog()
            inbox.post(log, "shared", to: [first, second, third])
            let before = inbox.count
            #expect(before == 1)
            inbox.expectRun(of: runner, log, ["shared"])
            for mode in [first, second, third] {
                let isHeld = inbox.holdsBlock(for: mode.number, isCommon: false)
                #expect(!isHeld)
                inbox.expectRun(of: mode, log, [])
            }
            let after = inbox.count
            #expect(after == 0)
        }
    }

    @Test func aModeNamedTwiceGetsABlockOnce() {
        var inbox = Inbox()
        let log = EventLog()
        inbox.post(log, "A", to: [first, first])
        inbox.post(log, "B", to: [first, second, first, second])
        inbox.expectRun(of: first, log, ["A", "B"])
        inbox.expectRun(of: second, log, [])
    }

    @Test func blocksThatRanElsewhereDoNotHideThoseBehindThem() {
        var inbox = Inbox()
        let log = EventLog()
        inbox.post(log, "shared", to: [first, second])
        inbox.post(log, "plain", to: second)
        inbox.expectRun(of: first, log, ["shared"])
        let isHeld = inbox.holdsBlock(for: second.number, isCommon: false)
        #expect(isHeld)
        inbox.expectRun(of: second, log, ["plain"])
    }

    @Test(arguments: [31, 32, 33, 34] as [UInt64])
    func theInboxAnswersAsAListThatIsFilteredWould(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var inbox = Inbox()
        let log = EventLog()
        var model: [(name: String, modes: Set<UVRunLoop.Mode>)] = []
        let all = [first, second, third, .common]
        for number in 0..<3000 {
            if Int.random(in: 0..<3, using: &generator) < 2 {
                let count = Int.random(in: 1...3, using: &generator)
                let modes = (0..<count).compactMap { _ in all.randomElement(using: &generator) }
                inbox.post(log, "\(number)", to: modes)
                model.append(("\(number)", Set(modes)))
            } else {
                let mode = [first, second].randomElement(using: &generator) ?? first
                let isCommon = mode == first
                let matches = { (modes: Set<UVRunLoop.Mode>) in
                    modes.contains(mode) || (isCommon && modes.contains(.common))
                }
                let expected = model.filter { matches($0.modes) }.map(\.name)
                model.removeAll { matches($0.modes) }
                let isHeld = inbox.holdsBlock(for: mode.number, isCommon: isCommon)
                #expect(isHeld == !expected.isEmpty)
                inbox.expectRun(of: mode, isCommon: isCommon, log, expected)
            }
            let count = inbox.count
            #expect(count == model.count)
        }
    }

    @Test func anInboxHandsOverItsBlocksAtTheEnd() {
        var inbox = Inbox()
        let log = EventLog()
        inbox.post(log, "plain", to: first)
        inbox.post(log, "shared", to: [first, second])
        inbox.post(log, "common", to: .common)
        let blocks = inbox.removeAll()
        #expect(blocks.count == 3)
        for block in blocks { block() }
        #expect(Set(log.entries) == ["plain", "shared", "common"])
        let count = inbox.count
        #expect(count == 0)
        inbox.expectRun(of: first, isCommon: true, log, [])
    }

    @Test func aBlockIsNotHeldAfterItWasTaken() {
        var inbox = Inbox()
        for modes in [[first], [first, second]] {
            weak var token: Box<Int>?
            do {
                let strong = Box(1)
                token = strong
                let held = Held(box: strong)
                inbox.post({ _ = held }, to: modes.map(\.number))
            }
            #expect(token != nil)
            var batch = BlockBatch()
            inbox.take(for: first.number, isCommon: false, into: &batch)
            while let next = batch.takeNext() { next.block() }
            #expect(token == nil)
        }
    }

    @Test func entriesDoNotPileUpInAModeThatNeverRuns() async {
        await #expect(processExitsWith: .success) { postManyBlocksForAModeThatNeverRuns() }
    }
}

private struct Held: @unchecked Sendable {
    let box: Box<Int>
}

extension Inbox {
    fileprivate mutating func post(_ log: EventLog, _ name: String, to mode: UVRunLoop.Mode) {
        post({ log.note(name) }, to: mode.number)
    }

    fileprivate mutating func post(_ log: EventLog, _ name: String, to modes: [UVRunLoop.Mode]) {
        post({ log.note(name) }, to: modes.map(\.number))
    }

    /// Takes and runs what a run of the mode would, and compares what the blocks noted.
    fileprivate mutating func expectRun(
        of mode: UVRunLoop.Mode,
        isCommon: Bool = false,
        _ log: EventLog,
        _ expected: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var batch = BlockBatch()
        take(for: mode.number, isCommon: isCommon, into: &batch)
        log.clear()
        while let next = batch.takeNext() { next.block() }
        #expect(log.entries == expected, sourceLocation: sourceLocation)
    }
}

/// Half a million entries would take tens of megabytes.
private func postManyBlocksForAModeThatNeverRuns() {
    let running = UVRunLoop.Mode("inbox running")
    let idle = UVRunLoop.Mode("inbox idle")
    var inbox = Inbox()
    var batch = BlockBatch()
    let before = residentBytes()
    for _ in 0..<500_000 {
        inbox.post({}, to: [running.number, idle.number])
        inbox.take(for: running.number, isCommon: false, into: &batch)
        precondition(batch.takeNext() != nil && batch.takeNext() == nil)
        batch.removeAll()
    }
    let growth = residentBytes() - before
    precondition(growth < 4_000_000, "The inbox kept \(growth) bytes.")
    precondition(inbox.count == 0)
}

/// What the process has asked the system for and touched.
private func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return 0 }
    let text = String(decoding: line.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
}
