import TestSupport
import Testing
import UVRunLoop

/// Tasks that wait for room in a port's queue.
@Suite(.timeLimit(.minutes(15))) struct PortSendingTests {
    private func message(_ id: Int32) -> UVRunLoop.PortMessage { UVRunLoop.PortMessage(id: id) }

    @Test(arguments: DriverKind.allCases)
    func aTaskWaitsForRoomInAFullPort(kind: DriverKind) throws {
        let log = EventLog()
        try runTask(kind) { loop in
            let port = UVRunLoop.Port(capacity: 2, sendableHandler: { log.note("got \($1.id)") })
            loop.add(port, forMode: .default)
            for id in Int32(1)...5 {
                let wasSent = try await port.sendWhenThereIsRoom(message(id))
                if wasSent { log.note("sent \(id)") }
            }
            while log.count < 10 { try await loop.sleep(for: .milliseconds(1)) }
            port.invalidate()
        }
        #expect(log.entries.filter { $0.hasPrefix("got") } == (1...5).map { "got \($0)" })
        #expect(log.entries.prefix(3) == ["sent 1", "sent 2", "got 1"])
    }

    @Test func messagesOfManyTasksAllArriveInTheOrderOfEach() async throws {
        try await UVRunLoop.withThread { loop in
            let received = SharedBox<[[Int32]]>([[], [], [], []])
            let port = UVRunLoop.TypedPort<[Int32]>(
                capacity: 3,
                sendableHandler: { _, value in received.value[Int(value[0])].append(value[1]) }
            )
            loop.add(port)
            await withTaskGroup { group in
                for sender in Int32(0)..<4 {
                    group.addTask {
                        for number in Int32(0)..<500 {
                            let wasSent = try? await port.sendWhenThereIsRoom([sender, number])
                            #expect(wasSent == true)
                        }
                    }
                }
            }
            try await yield(until: { port.count == 0 })
            try loop.performAndWaitInTask {}
            #expect(received.value == Array(repeating: Array(0..<500), count: 4))
            port.invalidate()
        }
    }

    @Test func everyMessageThatATaskTakesMakesRoomForASender() async throws {
        try await UVRunLoop.withThread { loop in
            let port = UVRunLoop.Port(capacity: 3)
            loop.add(port, forMode: .default)
            for id in Int32(1)...3 { #expect(port.send(message(id), limit: .zero)) }
            var messages = port.messages.makeAsyncIterator()
            for id in Int32(4)...20 {
                let sender = Task {
                    try await port.sendWhenThereIsRoom(UVRunLoop.PortMessage(id: id))
                }
                for _ in 0..<20 { await Task.yield() }
                #expect(await messages.next()?.id == id - 3)
                let wasSent = try await sender.value
                #expect(wasSent)
            }
            port.invalidate()
        }
    }

    @Test func aCancelledTaskHasSentNothingAndThePortRemainsUsable() async throws {
        let port = UVRunLoop.Port(capacity: 1, sendableHandler: { _, _ in })
        #expect(port.send(message(1), limit: .zero))
        let waiting = (2...4).map { id in
            Task { try await port.sendWhenThereIsRoom(UVRunLoop.PortMessage(id: id)) }
        }
        for _ in 0..<100 { await Task.yield() }
        for task in waiting { task.cancel() }
        for task in waiting {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(port.count == 1)
        try await UVRunLoop.withThread { loop in
            loop.add(port, forMode: .default)
            let wasSent = try await port.sendWhenThereIsRoom(message(5))
            #expect(wasSent)
        }
    }

    @Test func aThreadThatBlocksInACancelledTaskGoesOn() async throws {
        let port = UVRunLoop.Port(capacity: 1, sendableHandler: { _, _ in })
        #expect(port.send(message(1), limit: .zero))
        try await UVRunLoop.withThread { blocked in
            let task = Task(executorPreference: blocked.taskExecutor) {
                port.send(UVRunLoop.PortMessage(id: 2))
            }
            for _ in 0..<100 { await Task.yield() }
            task.cancel()
            #expect(await task.value == false)
        }
        #expect(port.count == 1)
    }

    @Test func invalidationEndsTheWaits() async throws {
        let port = UVRunLoop.Port(capacity: 1, sendableHandler: { _, _ in })
        #expect(try await port.sendWhenThereIsRoom(message(1)))
        let waiting = (0..<3).map { _ in
            Task { try await port.sendWhenThereIsRoom(UVRunLoop.PortMessage(id: 2)) }
        }
        for _ in 0..<100 { await Task.yield() }
        port.invalidate()
        for task in waiting { #expect(try await task.value == false) }
        #expect(try await port.sendWhenThereIsRoom(message(3)) == false)
    }

    @Test func aTaskThatIsCancelledAtAnyMomentKeepsNobodyWaiting() async throws {
        try await UVRunLoop.withThread { loop in
            let port = UVRunLoop.Port(capacity: 1, sendableHandler: { _, _ in })
            loop.add(port, forMode: .default)
            for number in 0..<1_000 {
                _ = port.send(message(0), limit: .zero)
                let senders = (0..<2).map { _ in
                    Task { try await port.sendWhenThereIsRoom(UVRunLoop.PortMessage()) }
                }
                for _ in 0..<number % 7 { await Task.yield() }
                senders[0].cancel()
                let wasSent = try await senders[1].value
                #expect(wasSent)
                _ = await senders[0].result
            }
            port.invalidate()
        }
    }

    @Test func cancellationAtAnyMomentLosesNoMessageThatWasSent() async throws {
        try await UVRunLoop.withThread { loop in
            let (received, sent) = (SharedBox(0), SharedBox(0))
            let port = UVRunLoop.Port(capacity: 1, sendableHandler: { _, _ in received.value += 1 })
            loop.add(port, forMode: .default)
            for number in 0..<1_000 {
                let task = Task { try await port.sendWhenThereIsRoom(UVRunLoop.PortMessage()) }
                for _ in 0..<number % 5 { await Task.yield() }
                task.cancel()
                if case .success(true) = await task.result { sent.value += 1 }
            }
            try await yield(until: { port.count == 0 })
            try loop.performAndWaitInTask {}
            #expect(received.value == sent.value)
            port.invalidate()
        }
    }
}

extension UVRunLoop {
    /// Waits for the loop from a task, and keeps its thread meanwhile.
    fileprivate func performAndWaitInTask(_ block: @escaping @Sendable () -> Void) throws {
        try performAndWait(block)
    }
}
