import TestSupport
import Testing

@testable import UVRunLoop

/// Senders of the parent that wait for room in a port, in a forked child.
@Suite(.timeLimit(.minutes(15))) struct ForkedSenderTests {
    @Test func theParentsSendersGetNoRoomInTheChild() async {
        await #expect(processExitsWith: .success) { forkWhileASenderWaits() }
    }

    @Test func theChildsSendersWaitAsIfThereWereNoOthers() async {
        await #expect(processExitsWith: .success) { forkWhileAThreadWaitsForLong() }
    }
}

private func forkWhileASenderWaits() {
    let inbox = PortInbox(capacity: 1)
    _ = inbox.post(UVRunLoop.PortMessage(id: 1))
    let parents = RecordingSender(2, on: inbox)
    let status = inChild {
        let own = RecordingSender(3, on: inbox)
        let messages = (deliverAll(from: inbox), deliverAll(from: inbox), deliverAll(from: inbox))
        guard parents.ends.value.isEmpty, own.ends.value == [true] else { return 2 }
        guard messages == ([1], [3], []) else { return 3 }
        // There is room, and nobody waits.
        return inbox.post(UVRunLoop.PortMessage(id: 4)) == .full ? 4 : 0
    }
    precondition(status == 0, "The child found something wrong.")
    precondition(deliverAll(from: inbox) == [1] && deliverAll(from: inbox) == [2])
    precondition(parents.ends.value == [true])
}

private func forkWhileAThreadWaitsForLong() {
    let inbox = PortInbox(capacity: 1)
    _ = inbox.post(UVRunLoop.PortMessage(id: 1))
    let parents = [true, false].map { RecordingSender(2, isTask: $0, on: inbox) }
    precondition(inbox.beginLongWait())
    let status = inChild {
        let own = RecordingSender(3, isTask: false, on: inbox)
        var messages: [UVRunLoop.PortMessage?] = []
        inbox.takeAll(into: &messages)
        inbox.undelivered.value = 0
        inbox.handOverRoom(onlyIfTasksWait: true, isInSeries: true)
        guard own.ends.value.isEmpty, own.checks.value == 0 else { return 2 }
        inbox.handOverRoom()
        return own.ends.value == [true] && parents.allSatisfy { $0.ends.value.isEmpty } ? 0 : 3
    }
    precondition(status == 0, "The child found something wrong.")
}

/// Takes all messages, and gives those that wait the room.
private func deliverAll(from inbox: PortInbox) -> [Int32] {
    var messages: [UVRunLoop.PortMessage?] = []
    inbox.takeAll(into: &messages)
    inbox.undelivered.value = 0
    inbox.handOverRoom()
    return messages.compactMap { $0?.id }
}
