import TestSupport
import Testing

@testable import UVRunLoop

/// Senders of the parent that wait for room in a port, in a forked child.
@Suite(.timeLimit(.minutes(15))) struct ForkedSenderTests {
    @Test func theParentsSendersGetNoRoomInTheChild() async {
        await #expect(processExitsWith: .success) { forkWhileASenderWaits() }
    }

    @Test func theChildsSendersWaitAsIfThereWereNoOthers() async {
        await #expect(processExitsWith: .success) { forkWhileTheFirstLooksForRoom() }
    }

    @Test func whateverTheChildDoesFirstItHasNoneOfTheParentsSenders() async {
        await #expect(processExitsWith: .success) { useInChild { $0.forget($1) } }
        await #expect(processExitsWith: .success) { useInChild { $0.isLookout($1) } }
        await #expect(processExitsWith: .success) {
            useInChild { inbox, _ in inbox.hasMoreOrRearms() }
        }
        await #expect(processExitsWith: .success) {
            useInChild { inbox, _ in inbox.handOverRoomAndAnnounce() }
        }
    }

    @Test func aPortThatTheChildClosesEndsNoWaitOfTheParents() async {
        await #expect(processExitsWith: .success) {
            forkWhileATaskWaits { inbox, _ in
                _ = inbox.close()
                return 0
            }
        }
    }

    /// The number of the parent's sender is not that of one of the child's.
    @Test func aSenderOfTheParentThatGivesUpIsNotTakenForOneOfTheChilds() async {
        await #expect(processExitsWith: .success) {
            forkWhileATaskWaits { inbox, parents in
                let own = RecordingSender(3, on: inbox)
                guard let number = parents.number.value, !inbox.forget(number) else { return 2 }
                return deliverAll(from: inbox) == [1] && own.ends.value == [true] ? 0 : 3
            }
        }
    }
}

private func forkWhileASenderWaits() {
    let (inbox, parents) = forkWhileATaskWaits { inbox, _ in
        let own = RecordingSender(3, on: inbox)
        let messages = (deliverAll(from: inbox), deliverAll(from: inbox), deliverAll(from: inbox))
        guard own.ends.value == [true] else { return 2 }
        guard messages == ([1], [3], []) else { return 3 }
        // There is room, and nobody waits.
        return inbox.post(UVRunLoop.PortMessage(id: 4)) == .full ? 4 : 0
    }
    precondition(deliverAll(from: inbox) == [1] && deliverAll(from: inbox) == [2])
    precondition(parents.ends.value == [true])
}

/// Forks while a task of the parent waits for room, whose wait nothing may end in the child.
///
/// - Parameter use: What the child does; returns zero, or the number of what is wrong.
/// - Returns: The inbox and the task's sender.
@discardableResult
private func forkWhileATaskWaits(
    _ use: (PortInbox, RecordingSender) -> CInt
) -> (PortInbox, RecordingSender) {
    let inbox = PortInbox.full(1, id: 1)
    let parents = RecordingSender(2, on: inbox)
    expectSuccessInChild {
        let status = use(inbox, parents)
        return parents.ends.value.isEmpty ? status : 1
    }
    return (inbox, parents)
}

/// Forks while a thread and a task of the parent wait for room that there is, and has a sender of the
/// child wait.
///
/// - Parameter use: The child's first use of the inbox, with the number of the thread that waits;
///   returns whether it has found that one.
private func useInChild(_ use: (PortInbox, Int) -> Bool) {
    let (inbox, parents) = inboxWithAThreadAndATask()
    inbox.takeAll(delivering: 1)
    guard let number = parents[0].number.value else { preconditionFailure("It does not wait.") }
    expectSuccessInChild {
        guard !use(inbox, number) else { return 2 }
        guard parents.allSatisfy({ $0.ends.value.isEmpty }) else { return 3 }
        for _ in 0..<2 { _ = inbox.post(UVRunLoop.PortMessage(id: 1)) }
        let own = RecordingSender(3, isTask: false, on: inbox)
        inbox.undelivered.value = 0
        // Nobody else looks for room.
        inbox.handOverRoom()
        return own.ends.value == [true] ? 0 : 4
    }
}

private func forkWhileTheFirstLooksForRoom() {
    let (inbox, parents) = inboxWithAThreadAndATask()
    inbox.takeAll(delivering: 0)
    precondition(parents[0].number.value.map(inbox.isLookout) == true)
    expectSuccessInChild {
        let own = RecordingSender(3, isTask: false, on: inbox)
        inbox.handOverRoom(onlyIfTasksWait: true, isInSeries: true)
        guard own.checks.value == 1 else { return 2 }
        inbox.undelivered.value = 1
        inbox.handOverRoom(onlyIfTasksWait: true)
        guard own.ends.value.isEmpty else { return 3 }
        inbox.handOverRoom()
        return own.ends.value == [true] && parents.allSatisfy { $0.ends.value.isEmpty } ? 0 : 4
    }
}

/// A full inbox, for room in which a thread and a task wait.
private func inboxWithAThreadAndATask() -> (PortInbox, [RecordingSender]) {
    let inbox = PortInbox.full(2, id: 1)
    return (inbox, [false, true].map { RecordingSender(2, isTask: $0, on: inbox) })
}

private func expectSuccessInChild(_ body: () -> CInt) {
    let status = inChild(body)
    precondition(status == 0, "The child found something wrong: \(status).")
}

/// Delivers all messages, and gives those that wait the room.
private func deliverAll(from inbox: PortInbox) -> [Int32] {
    defer { inbox.handOverRoom() }
    return inbox.deliverAll()
}
