import TestSupport
import Testing

@testable import UVRunLoop

/// When those that wait for room in a port get it within a series of its messages.
@Suite(.timeLimit(.minutes(15))) struct PortSeriesTests {
    /// Delivers messages of a full port for whose room as many senders wait.
    ///
    /// - Parameters:
    ///   - count: How many are delivered.
    ///   - isTask: Whether the senders are tasks.
    /// - Returns: How many senders had room during each message, and after the last.
    private func sendersWithRoom(_ count: Int, isTask: Bool) -> [Int] {
        let senders = SharedBox<[RecordingSender]>([])
        let seen = SharedBox<[Int]>([])
        let note = { @Sendable in
            seen.value.append(senders.value.count { $0.ends.value == [true] })
        }
        let port = UVRunLoop.Port(capacity: 8, sendableHandler: { _, _ in note() })
        for _ in 0..<8 { #expect(port.send(UVRunLoop.PortMessage(), limit: .zero)) }
        senders.value = (0..<8).map { RecordingSender($0, isTask: isTask, on: port.inbox) }
        _ = port.queue.receiveMore(port: port) { seen.value.count < count }
        note()
        port.invalidate()
        return seen.value
    }

    @Test func threadsGetRoomForTheFirstMessageTwiceABatchAndAtTheEnd() {
        #expect(sendersWithRoom(8, isTask: false) == [1, 1, 1, 4, 4, 4, 4, 8, 8])
        #expect(sendersWithRoom(3, isTask: false) == [1, 1, 1, 3])
        #expect(sendersWithRoom(6, isTask: false) == [1, 1, 1, 4, 4, 4, 6])
    }

    @Test func whileTasksWaitEachMessageMakesRoom() {
        #expect(sendersWithRoom(8, isTask: true) == [1, 2, 3, 4, 5, 6, 7, 8, 8])
        #expect(sendersWithRoom(3, isTask: true) == [1, 2, 3, 3])
    }

    /// The handler may wait for a thread between the times when threads get room.
    @Test func inEachBatchTheFirstThreadIsToldToLookForRoom() {
        let senders = SharedBox<[RecordingSender]>([])
        let told = SharedBox<[Int]>([])
        let port = UVRunLoop.Port(
            capacity: 8,
            sendableHandler: { port, message in
                told.value.append(senders.value.map(\.checks.value).reduce(0, +))
                guard message.id == 8 else { return }
                // The next batch, and threads for which there is no room.
                for id in Int32(9)...16 {
                    #expect(port.send(UVRunLoop.PortMessage(id: id), limit: .zero))
                }
                senders.value = (0..<8).map { RecordingSender($0, isTask: false, on: port.inbox) }
            }
        )
        for id in Int32(1)...8 { #expect(port.send(UVRunLoop.PortMessage(id: id), limit: .zero)) }
        _ = port.queue.receiveMore(port: port) { told.value.count < 13 }
        // The second time because the first threads have got room.
        #expect(told.value == [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
        port.invalidate()
    }

    /// When the limit of the second thread ends, there is room for both that wait, but the first has
    /// not looked for it.
    @Test func aSendWhoseLimitEndsTakesTheRoomThereIs() {
        // If the room came too late, it tells nothing.
        let attempts = (0..<20).lazy.compactMap { _ in resultOfASendThatEndsBesideRoom() }
        #expect(attempts.first == true)
    }

    /// Returns the result of a send with a limit, or `nil` if there was no room before its end.
    private func resultOfASendThatEndsBesideRoom() -> Bool? {
        let limit: Duration = .milliseconds(200)
        let wasInTime = SharedBox(false)
        let sending = SharedBox<RunningThread?>(nil)
        let start = SharedBox(ContinuousClock.now)
        let result = SharedBox(false)
        let delivered = Counter()
        let port = UVRunLoop.Port(
            capacity: 16,
            sendableHandler: { port, _ in
                delivered.add()
                switch delivered.value {
                case 1:
                    #expect(port.send(UVRunLoop.PortMessage(), limit: .zero))
                    let other = RecordingSender(1, isTask: false, on: port.inbox)
                    start.value = .now
                    sending.value = startThread {
                        result.value = port.send(UVRunLoop.PortMessage(), limit: limit)
                    }
                    awaitSender(behind: other, of: port)
                case 4:
                    wasInTime.value = .now < start.value + limit
                    sending.value?.join()
                default: break
                }
            }
        )
        for _ in 0..<16 { #expect(port.send(UVRunLoop.PortMessage(), limit: .zero)) }
        _ = port.queue.receiveMore(port: port) { delivered.value < 4 }
        port.invalidate()
        return wasInTime.value ? result.value : nil
    }

    /// Waits until somebody waits behind a sender, or has given up.
    private func awaitSender(behind first: RecordingSender, of port: UVRunLoop.Port) {
        var previous = first.number.value
        awaitCondition {
            let probe = RecordingSender(2, on: port.inbox)
            let next = previous.map { $0 + 1 }
            previous = probe.number.value
            if let number = previous { #expect(port.inbox.forget(number)) }
            return previous != next
        }
    }
}
