import Testing

@testable import UVRunLoop

/// The queue of blocks, with senders that are held up between their reservation and their mark.
///
/// The work in the meantime is done inside ``HeldSegments/fill(_:with:)``, where a sender holds
/// nothing: to the queue it is the work of other threads while the sender's thread is preempted.
@Suite(.timeLimit(.minutes(15))) struct SlotQueueTests {
    private typealias Queue = SlotQueue<SystemWord, HeldSegments>

    /// A queue, its taker and what was taken.
    private final class Story {
        let queue = Queue()
        var reader = Queue.Reader()
        var taken: [Int] = []

        func post(
            _ item: Int,
            mark: UInt64 = SlotMark.first,
            during other: (() -> Void)? = nil
        ) -> Bool {
            queue.segments.shared.duringFill = other
            return queue.post(item, mark: mark)
        }

        /// Takes the items at the front that have the first mark; returns whether there may be more.
        func takeFront(upTo end: UInt64) -> Bool {
            queue.takeFront(&reader, upTo: end, mark: SlotMark.first) { most, take in
                let before = taken.count
                let count = take { place in taken.append(queue.segments.take(place)) }
                #expect(count == taken.count - before && count <= most)
            }
        }

        func take() { take(upTo: queue.end) }

        /// Takes one by one what nothing lies before.
        func takeFirst() {
            while let item = queue.takeFirst(&reader, { place, _ in queue.segments.take(place) }) {
                taken.append(item)
            }
        }

        func take(upTo end: UInt64) {
            queue.take(&reader, upTo: end) { place, _ in taken.append(queue.segments.take(place)) }
        }
    }

    @Test func itemsAreTakenInTheOrderInWhichTheyCame() {
        let story = Story()
        for item in 1...20 {
            #expect(story.post(item))
            if item % 7 == 0 { story.take() }
        }
        story.take()
        #expect(story.taken == Array(1...20))
    }

    @Test func nothingWaitsForASenderThatIsHeldUp() {
        let story = Story()
        _ = story.post(1) {
            for item in 2...6 { _ = story.post(item) }
            story.take()
            #expect(story.taken == [2, 3, 4, 5, 6])
            #expect(story.reader.hasPassedOver)
        }
        story.take()
        #expect(story.taken == [2, 3, 4, 5, 6, 1])
        #expect(!story.reader.hasPassedOver)
    }

    @Test func severalSendersThatAreHeldUpAreOvertakenOnceEach() {
        let story = Story()
        _ = story.post(1) {
            _ = story.post(2) {
                _ = story.post(3)
                story.take()
                _ = story.post(4)
                story.take()
                #expect(story.taken == [3, 4])
            }
            _ = story.post(5)
            story.take()
            #expect(story.taken == [3, 4, 2, 5])
        }
        story.take()
        #expect(story.taken == [3, 4, 2, 5, 1])
        #expect(!story.reader.hasPassedOver)
    }

    @Test func whatWasTakenBesideASenderThatIsHeldUpIsNotLookedAtAgain() {
        let story = Story()
        _ = story.post(1) {
            story.queue.segments.shared.looks = 0
            for item in 2...1_000 {
                _ = story.post(item)
                story.take()
            }
        }
        #expect(story.taken == Array(2...1_000))
        #expect(story.queue.segments.shared.looks <= 3 * 999)
    }

    @Test func itemsAreTakenOneByOneUpToASenderThatIsHeldUp() {
        let story = Story()
        for item in 1...9 { _ = story.post(item) }
        _ = story.post(10) {
            _ = story.post(11)
            story.takeFirst()
            #expect(story.taken == Array(1...9))
            #expect(story.queue.mayHoldMore(story.reader))
        }
        story.takeFirst()
        #expect(story.taken == Array(1...11))
        #expect(!story.queue.mayHoldMore(story.reader))
    }

    @Test func theFrontIsTakenUpToAnotherMarkAndNotBehindTheEnd() {
        let story = Story()
        for item in 1...6 { _ = story.post(item) }
        let end = story.queue.end
        for item in 7...9 { _ = story.post(item) }
        _ = story.post(10, mark: SlotMark.first + 1)
        _ = story.post(11)
        #expect(!story.takeFront(upTo: end))
        #expect(story.taken == Array(1...6))
        #expect(story.takeFront(upTo: story.queue.end))
        #expect(story.taken == Array(1...9))
        story.take()
        #expect(story.taken == Array(1...11))
        #expect(!story.takeFront(upTo: story.queue.end))
    }

    /// A sender has added to a full segment, and has not put the next one there.
    @Test func theFrontEndsBehindAFullSegmentWhateverIsAddedToIt() {
        let story = Story()
        var end: UInt64 = 0
        for item in 1...2 { _ = story.post(item) }
        story.queue.segments.shared.beforeChange = { end = story.queue.end }
        for item in 3...5 { _ = story.post(item) }
        #expect(!story.takeFront(upTo: end))
        story.take(upTo: end)
        #expect(story.taken == [1, 2])
        #expect(!story.takeFront(upTo: story.queue.end))
        #expect(story.taken == Array(1...5))
    }

    @Test func theFrontEndsAtASenderThatIsHeldUp() {
        let story = Story()
        _ = story.post(1)
        _ = story.post(2) {
            _ = story.post(3)
            #expect(story.takeFront(upTo: story.queue.end))
            #expect(story.taken == [1])
            story.take()
            #expect(story.taken == [1, 3] && story.reader.hasPassedOver)
        }
        _ = story.post(4)
        #expect(story.takeFront(upTo: story.queue.end))
        #expect(story.taken == [1, 3])
        story.take()
        #expect(story.taken == [1, 3, 2, 4] && !story.reader.hasPassedOver)
    }

    @Test func aSegmentIsNotFilledAgainWhileASenderHasASlotInIt() {
        let story = Story()
        _ = story.post(1) {
            for item in 2...30 {
                _ = story.post(item)
                story.take()
            }
        }
        story.take()
        #expect(story.taken.sorted() == Array(1...30))
    }

    @Test func aSegmentIsFilledAgainOnceItsItemsWereTaken() {
        let story = Story()
        for item in 0..<1_000 {
            _ = story.post(item)
            story.take()
        }
        #expect(story.queue.segments.shared.madeCount <= 3)
    }

    @Test func aClosedQueueRefusesItemsAndKeepsThoseOfSendersThatAreHeldUp() {
        let story = Story()
        var end: UInt64 = 0
        let isAccepted = story.post(1) {
            _ = story.post(2)
            end = story.queue.close()
            #expect(!story.post(3))
            story.take(upTo: end)
            #expect(story.taken == [2] && story.reader.hasPassedOver)
        }
        #expect(isAccepted)
        story.take(upTo: end)
        story.queue.didTakeLast(story.reader)
        #expect(story.taken == [2, 1] && !story.reader.hasPassedOver)
        #expect(!story.post(4))
        #expect(story.queue.segments.shared.inUse.isEmpty)
    }

    @Test func aClosedQueueRefusesAnyNumberOfItems() {
        let story = Story()
        let end = story.queue.close()
        for item in 0..<70_000 where story.post(item) { Issue.record("Item \(item) was accepted.") }
        story.take(upTo: end)
        #expect(story.taken == [])
    }

    @Test func theMarkOfTheNextItemIsKnownUnlessItsSenderIsHeldUp() {
        let story = Story()
        #expect(story.queue.peek(story.reader) == nil)
        _ = story.post(1)
        story.take()
        #expect(story.queue.peek(story.reader) == nil)
        _ = story.post(2) { #expect(story.queue.peek(story.reader) == nil) }
        #expect(story.queue.peek(story.reader) == SlotMark.first)
    }

    /// A sender may be held up at any item, for as long as other senders, which may be held up
    /// too, and the taker do anything.
    @Test(arguments: 0..<500)
    func everyItemIsTakenOnceAndInOrderWhoeverIsHeldUp(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let story = Story()
        var time = 0
        var sent: [(began: Int, returned: Int)] = []

        func act(depth: Int) {
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                switch Int.random(in: 0..<7, using: &generator) {
                case 0: story.take()
                case 6:
                    let end = story.queue.end
                    if story.takeFront(upTo: end) { story.take(upTo: end) }
                case 1: story.takeFirst()
                default: send(depth: depth)
                }
            }
        }
        func send(depth: Int) {
            let number = sent.count
            time += 1
            sent.append((time, .max))
            let isHeldUp = depth < 4 && Bool.random(using: &generator)
            let mark = SlotMark.first + UInt64.random(in: 0...1, using: &generator)
            let meanwhile = isHeldUp ? { act(depth: depth + 1) } : nil
            #expect(story.post(number, mark: mark, during: meanwhile))
            time += 1
            sent[number].returned = time
        }

        for _ in 0..<8 { act(depth: 0) }
        story.take()
        #expect(story.taken.sorted() == Array(sent.indices))
        for (place, late) in story.taken.enumerated() {
            for early in story.taken[..<place] {
                #expect(
                    sent[late].returned > sent[early].began,
                    "\(late) was sent before \(early)."
                )
            }
        }
    }
}

/// Segments of two slots, which tell a mistake of the queue's.
private struct HeldSegments: ~Copyable, SlotSegments {
    final class Shared: @unchecked Sendable {
        /// Called once when a sender has found a segment full, before it puts the next one there.
        var beforeChange: (() -> Void)?
        /// Called once while the next sender is held up.
        var duringFill: (() -> Void)?
        var madeCount = 0
        /// How often a mark was loaded.
        var looks = 0
        /// The segments in use, oldest first, and those to be filled again.
        var inUse: [UInt64] = []
        var spare: [UInt64] = []
        var items: [UInt64: Int] = [:]
        var marks: [UInt64: UInt64] = [:]
    }

    static var capacity: UInt64 { 2 }
    static var indexBits: UInt64 { 0xFFFF }
    static var closed: UInt64 { 1 << 63 }

    let shared = Shared()

    func withLock<Result>(_ body: () -> Result) -> Result {
        shared.beforeChange.take()?()
        return body()
    }

    func makeSegment(after slot: UInt64) -> UInt64 {
        if shared.spare.isEmpty {
            shared.madeCount += 1
            shared.spare.append(UInt64(shared.madeCount) << 16)
        }
        let segment = shared.spare.removeFirst()
        shared.inUse.append(segment)
        return segment
    }

    func segment(after slot: UInt64) -> UInt64 {
        let segment = slot & ~Self.indexBits
        guard segment != 0 else { return shared.inUse[0] }
        guard let place = shared.inUse.firstIndex(of: segment) else {
            preconditionFailure("The taker follows a segment that is not in use.")
        }
        return shared.inUse[place + 1]
    }

    func recycle(_ slot: UInt64) {
        let segment = slot & ~Self.indexBits
        guard segment != 0 else { return }
        let place = shared.inUse.firstIndex(of: segment)
        precondition(place == 0, "A segment is recycled that is not the oldest.")
        shared.inUse.removeFirst()
        shared.spare.append(segment)
    }

    static func place(of slot: UInt64) -> UInt64 { slot }
    static func place(after place: UInt64) -> UInt64 { place + 1 }

    func fill(_ slot: UInt64, with item: Int) {
        let other = exchange(&shared.duringFill, with: nil)
        other?()
        precondition(shared.items[slot] == nil, "A slot is filled twice.")
        shared.items[slot] = item
    }

    func take(_ slot: UInt64) -> Int {
        guard let item = shared.items.removeValue(forKey: slot) else {
            preconditionFailure("A slot is taken that is empty.")
        }
        return item
    }

    func storeMark(_ mark: UInt64, at slot: UInt64) { shared.marks[slot] = mark }
    func loadMark(at slot: UInt64) -> UInt64 {
        shared.looks += 1
        return shared.marks[slot] ?? SlotMark.none
    }
    func clearMark(at slot: UInt64) { shared.marks[slot] = nil }
}
