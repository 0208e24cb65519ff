import Testing

@testable import UVRunLoop

/// The requests made of a loop, without a loop.
@Suite(.timeLimit(.minutes(15))) struct PerformQueueTests {
    // MARK: Order

    @Test func requestsLeaveInTheOrderInWhichTheyCame() {
        let queue = Queue()
        let contents = (0..<5).map { _ in content(.default) }
        for content in contents { _ = queue.insert(content) }
        #expect(queue.count == 5)
        for content in contents { #expect(queue.takeNext(.default) === content) }
        #expect(queue.takeNext(.default) == nil)
        #expect(queue.count == 0)
    }

    @Test func aCommonModeServesTheOlderOfItsOwnAndOfWhatIsCommon() {
        let queue = Queue()
        let contents = [a, .common, .common, a, b, .common].map { content($0) }
        for content in contents { _ = queue.insert(content) }
        for index in [0, 1, 2, 3, 5] {
            #expect(queue.takeNext(a, isCommon: true) === contents[index])
        }
        #expect(queue.takeNext(a, isCommon: true) == nil)
        #expect(queue.takeNext(b) === contents[4])
    }

    @Test func whatIsCommonIsNothingToAnotherMode() {
        let queue = Queue()
        _ = queue.insert(content(.common))
        #expect(queue.takeNext(a) == nil)
        // Named, it is a mode like others.
        #expect(queue.takeNext(.common) != nil)
    }

    @Test func aRequestOfSeveralModesIsTakenOnce() {
        let queue = Queue()
        let (first, second) = (content(a, b, .common), content(b))
        _ = queue.insert(first)
        _ = queue.insert(second)
        #expect(queue.count == 2)
        #expect(queue.takeNext(a) === first)
        #expect(queue.takeNext(a, isCommon: true) == nil)
        #expect(queue.takeNext(b, isCommon: true) === second)
        #expect(queue.count == 0)
    }

    @Test func whatCameAfterALimitIsNotDue() {
        let queue = Queue()
        _ = queue.insert(content(a))
        let limit = queue.serial
        _ = queue.insert(content(a))
        _ = queue.insert(content(.common))
        #expect(queue.takeNext(a, isCommon: true, upTo: limit) != nil)
        #expect(queue.takeNext(a, isCommon: true, upTo: limit) == nil)
        #expect(queue.takeNext(a, isCommon: true, upTo: limit + 1) != nil)
        #expect(queue.takeNext(a, isCommon: true, upTo: limit + 1) == nil)
        #expect(queue.count == 1)
    }

    // MARK: Modes that something waits in

    @Test func theFirstRequestJoinsAModeAndTheLastLeavesIt() {
        let queue = Queue()
        let first = queue.insert(content(a, b))
        #expect(first.joined == [a, b])
        let second = queue.insert(content(b, .common))
        #expect(second.joined == [.common])
        #expect(queue.remove(first.ticket)?.left == [a])
        #expect(queue.insert(content(a)).joined == [a])
        #expect(queue.take(b)?.left == [b, .common])
    }

    @Test func aModeHoldsWhatNamesItUntilThatIsRemoved() {
        let queue = Queue()
        #expect(!queue.holds(a))
        _ = queue.insert(content(a))
        let common = queue.insert(content(b, .common)).ticket
        #expect(queue.holds(a) && queue.holds(b) && queue.holds(.common))
        _ = queue.remove(common)
        #expect(queue.holds(a) && !queue.holds(b) && !queue.holds(.common))
        #expect(queue.takeNext(a) != nil)
        #expect(!queue.holds(a))
    }

    // MARK: Cancelling

    @Test func aRequestIsRemovedOnceWhereverItStands() {
        let queue = Queue()
        let contents = (0..<3).map { _ in content(a) }
        let tickets = contents.map { queue.insert($0).ticket }
        #expect(queue.holds(tickets[1]))
        #expect(queue.remove(tickets[1])?.request.content === contents[1])
        #expect(!queue.holds(tickets[1]))
        #expect(queue[tickets[1]] == nil)
        #expect(queue.remove(tickets[1]) == nil)
        // Its room has a new tenant, which the old ticket does not reach.
        let late = content(a)
        _ = queue.insert(late)
        #expect(queue.remove(tickets[1]) == nil)
        for expected in [contents[0], contents[2], late] {
            #expect(queue.takeNext(a) === expected)
        }
    }

    @Test func theRequestsOfATargetAreFoundInOrderUntilTheyLeave() {
        let queue = Queue()
        let (one, other) = (Target(), Target())
        let tickets = [nil, "x", nil, "x", "y"].map { key in
            queue.insert(content(a, target: one, key: key)).ticket
        }
        _ = queue.insert(content(a, target: other, key: "x"))
        _ = queue.insert(content(a))
        #expect(queue.requests(of: one).map(\.ticket) == tickets)
        let hash = PerformQueue.Target.hash(of: "x")
        let found = queue.requests(of: one, keyHash: hash)
        #expect(found.map(\.ticket) == [tickets[1], tickets[3]])
        #expect(found.map { $0.key as? String } == ["x", "x"])
        _ = queue.remove(tickets[1])
        #expect(queue.takeNext(a) != nil)
        #expect(queue.requests(of: one).map(\.ticket) == Array(tickets[2...]))
        for ticket in tickets { _ = queue.remove(ticket) }
        #expect(queue.requests(of: one).isEmpty)
        #expect(queue.requests(of: other).count == 1)
    }

    @Test func anythingMayBeCancelledInBetweenWithoutHarmToTheOrder() throws {
        let queue = Queue()
        var random = SeededGenerator(seed: 11)
        // The waiting requests, oldest first.
        var waiting: [(ticket: Ticket, content: PerformQueue.Content)] = []
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let modes = [[a], [b], [.common], [a, b], [b, .common]]
                let content = content(of: modes.randomElement(using: &random) ?? [a])
                waiting.append((queue.insert(content).ticket, content))
            case 5..<8:
                guard let index = waiting.indices.randomElement(using: &random) else { continue }
                let (ticket, content) = waiting.remove(at: index)
                try #require(queue.remove(ticket)?.request.content === content)
            default:
                let mode = Bool.random(using: &random) ? a : b
                let next = waiting.firstIndex {
                    $0.content.modes.contains(mode) || $0.content.modes.contains(.common)
                }
                let expected = next.map { waiting.remove(at: $0).content }
                try #require(queue.takeNext(mode, isCommon: true) === expected)
            }
            try #require(queue.count == waiting.count)
        }
    }

    // MARK: Delayed requests

    @Test func whatWaitsForATimerWaitsInNoMode() {
        let queue = Queue()
        let timer = UVRunLoop.Timer(after: .seconds(1)) { _ in }
        let delayed = content(a)
        let (ticket, made) = queue.insert(delayed, after: 7) { _ in timer }
        #expect(made === timer)
        #expect(queue.count == 0)
        #expect(queue.holds(ticket))
        #expect(queue[ticket]?.since == 7)
        #expect(queue.takeNext(a) == nil)
        #expect(!queue.holds(a))
        let taken = queue.remove(ticket)
        #expect(taken?.request.content === delayed)
        #expect(taken?.request.timer === timer)
        #expect(taken?.left == [])
        #expect(queue.count == 0)
    }

    // MARK: The end

    @Test func closingHandsOverAllThatWaitsAndWhoeverWaitsForWhatIsPerformed() {
        let queue = Queue()
        let (begun, done) = (Waiter(), Waiter())
        for waiter in [done, begun] {
            _ = queue.insert(PerformQueue.Content([a], nil, waiter: waiter) {})
            #expect(queue.takeNext(a) != nil)
        }
        queue.didPerform(done)
        let contents = [content(a), content(b, .common), content(a, target: Target())]
        _ = queue.insert(contents[0])
        let timer = UVRunLoop.Timer(after: .seconds(1)) { _ in }
        let delayed = queue.insert(contents[1], after: nil) { _ in timer }.ticket
        _ = queue.insert(contents[2])

        let end = queue.close()
        let isAll = end.requests.map(\.content).elementsEqual(contents, by: ===)
        #expect(isAll)
        #expect(end.requests.map { $0.timer === timer } == [false, true, false])
        #expect(end.performing.map { $0 === begun } == [true])
        #expect(end.source == nil)
        #expect(queue.isClosed)
        #expect(queue.count == 0)
        #expect(!queue.holds(delayed))
        #expect(queue.takeNext(a, isCommon: true) == nil)
    }
}

private let (a, b) = (UVRunLoop.Mode("A"), UVRunLoop.Mode("B"))

private final class Target: Sendable {}

private final class Waiter: PerformWaiter {
    func giveUp(_ error: UVRunLoop.PerformError) {}
}

private func content(
    _ modes: UVRunLoop.Mode...,
    target: Target? = nil,
    key: String? = nil
) -> PerformQueue.Content {
    content(of: modes, target: target, key: key)
}

private func content(
    of modes: [UVRunLoop.Mode],
    target: Target? = nil,
    key: String? = nil
) -> PerformQueue.Content {
    PerformQueue.Content(modes, PerformQueue.Target(target, key)) {}
}

/// A queue behind a reference: an expectation copies the values that it reads.
private final class Queue {
    private var queue = PerformQueue()

    var count: Int { queue.count }
    var serial: UInt64 { queue.serial }
    var isClosed: Bool { queue.isClosed }

    subscript(ticket: Ticket) -> PerformQueue.Request? { queue[ticket] }

    func insert(
        _ content: PerformQueue.Content
    ) -> (ticket: Ticket, joined: [UVRunLoop.Mode]) { queue.insert(content) }

    func insert(
        _ content: PerformQueue.Content,
        after pass: UInt64?,
        timer: (Ticket) -> UVRunLoop.Timer
    ) -> (ticket: Ticket, timer: UVRunLoop.Timer) {
        queue.insert(content, after: pass, timer: timer)
    }

    func take(_ mode: UVRunLoop.Mode) -> PerformQueue.Removed? {
        queue.takeNext(for: mode, isCommon: false, upTo: .max)
    }

    func takeNext(
        _ mode: UVRunLoop.Mode,
        isCommon: Bool = false,
        upTo limit: UInt64 = .max
    ) -> PerformQueue.Content? {
        queue.takeNext(for: mode, isCommon: isCommon, upTo: limit)?.request.content
    }

    func remove(_ ticket: Ticket) -> PerformQueue.Removed? { queue.remove(ticket) }

    func holds(_ ticket: Ticket) -> Bool { queue.holds(ticket) }

    func holds(_ mode: UVRunLoop.Mode) -> Bool { queue.holdsRequest(for: mode) }

    func requests(
        of target: Target,
        keyHash: Int? = nil
    ) -> [(ticket: Ticket, key: (any Hashable & Sendable)?)] {
        queue.requests(of: ObjectIdentifier(target), keyHash: keyHash)
    }

    func didPerform(_ waiter: Waiter) { queue.didPerform(waiter) }

    func close() -> (
        requests: [PerformQueue.Request], performing: [any PerformWaiter], source: UVRunLoop.Source?
    ) { queue.close() }
}
