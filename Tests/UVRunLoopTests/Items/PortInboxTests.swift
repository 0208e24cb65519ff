import Testing

@testable import UVRunLoop

/// Who is woken when there is room in a port's queue.
@Suite(.timeLimit(.minutes(15))) struct PortInboxTests {
    /// A task that waits for room, and counts how often it was resumed.
    private final class Waiter: RoomListener {
        let resumptions = Counter()
        func roomMayBeThere() { resumptions.add() }
    }

    private func fullInbox(_ capacity: Int) -> PortInbox {
        let inbox = PortInbox(capacity: capacity)
        for _ in 0..<capacity { _ = inbox.post(UVRunLoop.PortMessage()) }
        return inbox
    }

    private func wait(_ count: Int, on inbox: PortInbox) -> [Waiter] {
        (0..<count).map { _ in
            let waiter = Waiter()
            #expect(inbox.post(UVRunLoop.PortMessage(), orWake: waiter) == .full)
            return waiter
        }
    }

    /// Takes all messages, and delivers so many of them.
    private func deliver(_ count: Int, from inbox: PortInbox) {
        var messages: [UVRunLoop.PortMessage?] = []
        inbox.takeAll(into: &messages)
        inbox.undelivered.value = messages.count - count
    }

    @Test func asManyTasksAreResumedAsThereIsRoomForTheLongestWaitingFirst() {
        let inbox = fullInbox(4)
        let waiters = wait(6, on: inbox)
        inbox.wakeSenders()
        #expect(waiters.allSatisfy { $0.resumptions.value == 0 })
        deliver(2, from: inbox)
        inbox.wakeSenders()
        #expect(waiters.map(\.resumptions.value) == [1, 1, 0, 0, 0, 0])
        // Nobody has taken the room: the tasks may be held up.
        inbox.wakeSenders()
        #expect(waiters.map(\.resumptions.value) == [1, 1, 1, 1, 0, 0])
        inbox.wakeTask()
        #expect(waiters.map(\.resumptions.value) == [1, 1, 1, 1, 1, 0])
    }

    @Test func allTasksAreResumedWhenThePortIsClosed() {
        let inbox = fullInbox(1)
        let waiters = wait(3, on: inbox)
        #expect(inbox.close().count == 1)
        #expect(waiters.map(\.resumptions.value) == [1, 1, 1])
    }

    /// Each thread has its message queued, however few are woken at a time.
    @Test func everyBlockedThreadGetsItsTurn() {
        let inbox = fullInbox(1)
        let threads = (0..<6).map { _ in
            startThread {
                for _ in 0..<50 {
                    let outcome = inbox.post(UVRunLoop.PortMessage(), until: .max) { false }
                    #expect(outcome != .full)
                }
            }
        }
        var delivered = 0
        while delivered < 301 {
            var messages: [UVRunLoop.PortMessage?] = []
            inbox.takeAll(into: &messages)
            delivered += messages.count
            inbox.undelivered.value = 0
            inbox.wakeSenders()
        }
        for thread in threads { thread.join() }
        #expect(delivered == 301)
    }
}
