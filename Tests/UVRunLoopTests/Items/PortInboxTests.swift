import TestSupport
import Testing

@testable import UVRunLoop

/// Who gets the room in a port's queue.
@Suite(.timeLimit(.minutes(15))) struct PortInboxTests {
    private typealias Message = UVRunLoop.PortMessage

    private func wait(_ ids: Range<Int32>, on inbox: PortInbox) -> [RecordingSender] {
        ids.map { RecordingSender($0, on: inbox) }
    }

    @Test func asManyMessagesAreQueuedAsThereIsRoomForTheLongestWaitingFirst() {
        let inbox = PortInbox.full(4)
        let waiters = wait(1..<7, on: inbox)
        inbox.handOverRoom()
        #expect(waiters.allSatisfy { $0.ends.value.isEmpty })
        inbox.takeAll(delivering: 2)
        inbox.handOverRoom()
        inbox.handOverRoom()
        #expect(waiters.map(\.ends.value) == [[true], [true], [], [], [], []])
        #expect(inbox.count == 4)
        let delivered = inbox.takeAll(delivering: 2)
        #expect(delivered == [1, 2])
        inbox.handOverRoom()
        #expect(waiters.map(\.ends.value) == [[true], [true], [true], [true], [true], [true]])
        #expect(inbox.takeAll(delivering: 4) == [3, 4, 5, 6])
    }

    @Test func threadsAndTasksHaveOneLine() {
        let inbox = PortInbox.full(2)
        let waiters = [false, true, false].enumerated().map { id, isTask in
            RecordingSender(Int32(id), isTask: isTask, on: inbox)
        }
        inbox.takeAll(delivering: 1)
        inbox.handOverRoom(onlyIfTasksWait: true)
        #expect(waiters.map(\.ends.value) == [[true], [], []])
        inbox.undelivered.value = 0
        inbox.handOverRoom(onlyIfTasksWait: true)
        #expect(waiters.map(\.ends.value) == [[true], [true], []])
        inbox.takeAll(delivering: 2)
        inbox.handOverRoom(onlyIfTasksWait: true)
        #expect(waiters.map(\.ends.value) == [[true], [true], []])
        inbox.handOverRoom()
        #expect(waiters.map(\.ends.value) == [[true], [true], [true]])
    }

    @Test func nobodyOvertakesThoseThatWait() {
        let inbox = PortInbox.full(4)
        let waiter = RecordingSender(1, isTask: false, on: inbox)
        inbox.takeAll(delivering: 1)
        // There is room, which is the waiting sender's.
        #expect(inbox.post(Message(id: 2)) == .full)
        #expect(!inbox.handOverRoomAndAnnounce())
        #expect(waiter.ends.value == [true])
        inbox.undelivered.value = 2
        #expect(inbox.post(Message(id: 2)) == .announced)
        #expect(inbox.takeAll(delivering: 0) == [1, 2])
    }

    @Test func aSenderThatIsForgottenSendsNothingAndKeepsNobodyWaiting() {
        let inbox = PortInbox.full(1)
        let (first, second) = (RecordingSender(1, on: inbox), RecordingSender(2, on: inbox))
        #expect(first.number.value.map(inbox.forget) == true)
        #expect(first.number.value.map(inbox.forget) == false)
        inbox.takeAll(delivering: 1)
        inbox.handOverRoom()
        #expect(second.number.value.map(inbox.forget) == false)
        #expect((first.ends.value, second.ends.value) == ([], [true]))
        #expect(inbox.takeAll(delivering: 1) == [2])
        #expect(inbox.post(Message(id: 3)) != .full)
    }

    /// The numbers of senders stay theirs, whoever has left.
    @Test func theLineIsKeptWhoeverLeavesIt() {
        let inbox = PortInbox.full(1)
        var waiting: [(id: Int32, number: Int)] = []
        var (expected, delivered): ([Int32], [Int32]) = ([], [])
        for id in Int32(1)...2_000 {
            guard let number = RecordingSender(id, on: inbox).number.value else { continue }
            waiting.append((id, number))
            if id % 3 == 0 {
                let left = waiting.remove(at: waiting.count / 2)
                #expect(inbox.forget(left.number))
            }
            guard id % 2 == 0, id > 100 else { continue }
            delivered += inbox.takeAll(delivering: 1)
            inbox.handOverRoom()
            expected.append(waiting.removeFirst().id)
        }
        delivered += inbox.takeAll(delivering: 1)
        #expect(delivered.dropFirst() == expected[...])
    }

    /// While there is no room, nobody takes the places of those that have given up.
    @Test func aLineWhoseSendersGiveUpTakesNoMemory() {
        var line = SenderQueue()
        let first = line.append(Message(id: 0), RecordingSender())
        for id in Int32(1)...10_000 {
            let number = line.append(Message(id: id), RecordingSender())
            #expect(line.remove(number)?.message.id == id)
            #expect(line.remove(number) == nil)
        }
        #expect(line.length < 100)
        #expect(line.takeFirst()?.message.id == 0)
        #expect(line.remove(first) == nil && line.isEmpty)
    }

    @Test func whatIsAnnouncedNextIsTheFirstMessageThatNobodyLooksFor() {
        let inbox = PortInbox.full(1)
        let waiter = RecordingSender(1, on: inbox)
        inbox.takeAll(delivering: 1)
        // The receiver looks again: there is a message.
        #expect(inbox.hasMoreOrRearms())
        #expect(waiter.ends.value == [true])
        #expect(inbox.takeAll(delivering: 1) == [1])
        #expect(!inbox.hasMoreOrRearms())
        #expect(inbox.post(Message()) == .first)
    }

    @Test func roomThatASenderHandsOverIsAnnouncedIfNothingElseIs() {
        let inbox = PortInbox.full(2)
        _ = RecordingSender(1, on: inbox)
        inbox.takeAll(delivering: 0)
        #expect(!inbox.hasMoreOrRearms())
        inbox.undelivered.value = 1
        #expect(inbox.handOverRoomAndAnnounce())
        #expect(!inbox.handOverRoomAndAnnounce())
    }

    @Test func theWaitsEndWhenThePortIsClosed() {
        let inbox = PortInbox.full(1)
        let waiters = wait(1..<4, on: inbox)
        #expect(inbox.close().count == 1)
        #expect(waiters.map(\.ends.value) == [[false], [false], [false]])
        #expect(RecordingSender(4, on: inbox).number.value == nil)
    }

    @Test func theFirstInTheLineLooksForRoomWhileASeriesIsDelivered() throws {
        let inbox = PortInbox.full(4)
        let senders = (0..<4).map { RecordingSender($0, isTask: false, on: inbox) }
        let numbers = try senders.map { try #require($0.number.value) }
        #expect(!inbox.isLookout(numbers[0]))
        inbox.handOverRoom(isInSeries: true)
        inbox.takeAll(delivering: 1)
        inbox.handOverRoom()
        #expect(senders.map(\.checks.value) == [0, 0, 0, 0])
        inbox.handOverRoom(onlyIfTasksWait: true, isInSeries: true)
        #expect(senders.map(\.checks.value) == [0, 1, 0, 0])
        #expect(inbox.isLookout(numbers[1]) && !inbox.isLookout(numbers[2]))
        // It is told once.
        inbox.handOverRoom(isInSeries: true)
        #expect(senders.map(\.checks.value) == [0, 1, 0, 0])
        #expect(inbox.forget(numbers[1]))
        #expect(senders.map(\.checks.value) == [0, 1, 1, 0])
        inbox.undelivered.value = 0
        #expect(!inbox.isLookout(numbers[2]))
        // Whoever hands over room leaves a lookout behind.
        inbox.undelivered.value = 2
        #expect(!inbox.handOverRoomAndAnnounce())
        #expect(senders[2].ends.value == [true] && inbox.isLookout(numbers[3]))
        #expect(senders.map(\.checks.value) == [0, 1, 1, 1])
    }

    /// Each thread has its messages queued, in its order.
    @Test func everyBlockedThreadGetsItsTurn() {
        let inbox = PortInbox.full(1)
        let threads = (0..<6).map { thread in
            startThread {
                for number in 0..<50 {
                    let sender = BlockedSender()
                    let message = Message(id: Int32(thread * 50 + number))
                    if case .waits = inbox.post(message, orWait: sender) {
                        #expect(sender.awaitEnd())
                    }
                }
            }
        }
        var delivered: [Int32] = []
        while delivered.count < 301 {
            delivered += inbox.deliverAll()
            inbox.handOverRoom()
        }
        for thread in threads { thread.join() }
        for thread in Int32(0)..<6 {
            let own = delivered.dropFirst().filter { $0 / 50 == thread }
            #expect(own == Array(thread * 50..<thread * 50 + 50))
        }
    }
}
