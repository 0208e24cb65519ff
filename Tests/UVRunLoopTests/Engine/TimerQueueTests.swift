import Testing

@testable import UVRunLoop

/// The timers of one mode: their order, their batches, and how long they let a loop sleep.
@Suite(.timeLimit(.minutes(15))) struct TimerQueueTests {
    @Test func aBatchTakesWhatIsDueByDateAndThenByTurn() {
        var timers = Timers()
        timers.schedule("late", date: 101)
        timers.schedule("B", date: 50)
        timers.schedule("A", date: 20)
        timers.schedule("C", date: 50)
        timers.schedule("D", date: 100)
        #expect(timers.fireBatch(now: 100) == ["A", "B", "C", "D"])
        #expect(timers.fireBatch(now: 100) == [])
        #expect(timers.fireBatch(now: 101) == ["late"])
    }

    @Test func timersWithAndWithoutToleranceFireInOneOrder() {
        var timers = Timers()
        timers.schedule("A", date: 30, tolerance: 500)
        timers.schedule("B", date: 10)
        timers.schedule("C", date: 20, tolerance: 1)
        timers.schedule("D", date: 30)
        #expect(timers.fireBatch(now: 30) == ["B", "C", "A", "D"])
    }

    @Test func whatJoinsDuringABatchIsDueWithTheNextOne() {
        var timers = Timers()
        timers.schedule("A", date: 10)
        timers.schedule("B", date: 100)
        let fired = timers.fireBatch(now: 100) { timers, name in
            if name == "A" {
                timers.schedule("new, sooner", date: 5)
                timers.schedule("new, at the end", date: 100)
                timers.schedule("new, sooner still", date: -7)
            }
        }
        #expect(fired == ["A", "B"])
        #expect(timers.queue.soonest == -7)
        let next = ["new, sooner still", "new, sooner", "new, at the end"]
        #expect(timers.fireBatch(now: 100) == next)
    }

    @Test func whatJoinsAfterABatchIsRankedByItsDateAgain() {
        var timers = Timers()
        _ = timers.fireBatch(now: 1000)
        timers.schedule("B", date: 20)
        timers.schedule("A", date: 10)
        #expect(timers.queue.soonest == 10)
        #expect(timers.fireBatch(now: 1000) == ["A", "B"])
    }

    @Test func aBatchWithinABatchTakesTheRestAndLeavesNewOnesToTheNext() {
        var timers = Timers()
        for (name, date) in [("A", 10), ("B", 20), ("C", 30)] as [(String, Int64)] {
            timers.schedule(name, date: date)
        }
        var inner: [String] = []
        let outer = timers.fireBatch(now: 30) { timers, name in
            guard name == "A" else { return }
            timers.schedule("new before", date: 1)
            inner = timers.fireBatch(now: 40) { timers, name in
                if name == "B" { timers.schedule("new within", date: 2) }
            }
            timers.schedule("new after", date: 3)
        }
        #expect(inner == ["new before", "B", "C"])
        #expect(outer == ["A"])
        #expect(timers.fireBatch(now: 40) == ["new within", "new after"])
    }

    @Test func aTimerTakenOutDuringABatchIsNotFired() {
        var timers = Timers()
        timers.schedule("A", date: 1)
        let victim = timers.schedule("B", date: 2, tolerance: 5)
        timers.schedule("C", date: 3)
        let fired = timers.fireBatch(now: 9) { timers, name in
            if name == "A" { timers.queue.unschedule(victim) }
        }
        #expect(fired == ["A", "C"])
        #expect(timers.wakeWindow == nil)
    }

    @Test func aBatchGivesBackWhatItHeldInTheOrderOfTheTurns() {
        var timers = Timers()
        let slots = ["A", "B", "C", "D"].map { timers.schedule($0, date: 1) }
        timers.queue.beginBatch(now: 1)
        #expect(timers.queue.endBatch() == nil)
        timers.queue.beginBatch(now: 1)
        for index in [2, 0, 3, 1] {
            timers.queue.keepTurn(of: slots[index])
            timers.queue.unschedule(slots[index])
        }
        #expect(timers.queue.takeNextOrDisplaced({ 1 }, slot: { _ in nil }) == nil)
        #expect(timers.queue.endBatch()?.map(\.name) == ["A", "B", "C", "D"])
    }

    @Test func withoutTimersThereIsNoWakeWindow() {
        let timers = Timers()
        #expect(timers.wakeWindow == nil)
        #expect(timers.queue.soonest == nil)
    }

    @Test func timersWithoutToleranceAreDueExactly() {
        var timers = Timers()
        timers.schedule("B", date: 20)
        timers.schedule("A", date: 10)
        #expect(timers.wakeWindow == WakeWindow(earliest: 10, latest: 10))
    }

    @Test func theFirstWindowToCloseEndsTheSleep() {
        var timers = Timers()
        timers.schedule("A", date: 10, tolerance: 90)
        timers.schedule("B", date: 30, tolerance: 20)
        timers.schedule("C", date: 70)
        #expect(timers.wakeWindow == WakeWindow(earliest: 30, latest: 50))
        timers.schedule("D", date: 40)
        #expect(timers.wakeWindow == WakeWindow(earliest: 40, latest: 40))
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func theQueueAnswersAsAListThatIsSearchedWould(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var timers = Timers()
        for step in 0..<1500 {
            if Bool.random(using: &generator),
                let (place, _) = timers.members.randomElement(
                    using: &generator
                )
            {
                timers.unschedule(place)
            }
            let date = Int64.random(in: 0..<300, using: &generator)
            let isStrict = Bool.random(using: &generator)
            let tolerance = isStrict ? 0 : Int64.random(in: 1..<200, using: &generator)
            timers.schedule("\(step)", date: date, tolerance: tolerance)
            #expect(timers.queue.soonest == timers.members.values.map(\.date).min())
            #expect(timers.wakeWindow == timers.searchedWakeWindow)
        }
        let names = timers.members.values
            .sorted { ($0.date, $0.serial) < ($1.date, $1.serial) }.map(\.name)
        #expect(timers.fireBatch(now: 300) == names)
    }
}

/// A queue and what was put into it.
private struct Timers: ~Copyable {
    final class Member {
        let name: String
        var date: Int64
        var latest: Int64
        var serial: UInt64

        init(name: String, date: Int64, latest: Int64, serial: UInt64) {
            self.name = name
            self.date = date
            self.latest = latest
            self.serial = serial
        }
    }

    var queue = TimerQueue<Member>()
    var members: [HeapSlot: Member] = [:]
    private var serial: UInt64 = 0

    private mutating func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }

    @discardableResult
    mutating func schedule(_ name: String, date: Int64, tolerance: Int64 = 0) -> HeapSlot {
        let member = Member(
            name: name,
            date: date,
            latest: date + tolerance,
            serial: nextSerial()
        )
        let place = queue.members.insert(member)
        members[place] = member
        queue.members.setSerial(member.serial, of: place)
        queue.schedule(place, date: date, latest: member.latest)
        return place
    }

    mutating func unschedule(_ place: HeapSlot) {
        queue.unschedule(place)
        queue.members.remove(place)
        members[place] = nil
    }

    var wakeWindow: WakeWindow? { queue.wakeWindow }

    var searchedWakeWindow: WakeWindow? {
        let strict = members.values.filter { $0.latest == $0.date }.map(\.date).min()
        let window = members.values.filter { $0.latest > $0.date }
            .min { ($0.latest, $0.serial) < ($1.latest, $1.serial) }
        guard let window, window.latest < strict ?? .max else {
            return strict.map { WakeWindow(earliest: $0, latest: $0) }
        }
        return WakeWindow(earliest: window.date, latest: window.latest)
    }

    mutating func fireBatch(
        now: Int64,
        _ handler: (inout Timers, String) -> Void = { _, _ in }
    ) -> [String] {
        queue.beginBatch(now: now)
        var names: [String] = []
        while let member = queue.takeNext()?.member {
            let found = members.first { $0.value.serial == member.serial }
            guard let place = found?.key else {
                names.append("a stranger")
                continue
            }
            members[place] = nil
            queue.members.remove(place)
            names.append(member.name)
            handler(&self, member.name)
        }
        _ = queue.endBatch()
        return names
    }
}
