import Glibc
import Testing

@testable import UVRunLoop

/// Messages of a port as a sequence.
@Suite(.timeLimit(.minutes(15))) struct MessageSequenceTests {
    @Test func messagesComeInOrderAndNoneIsLost() async throws {
        let count = 20_000
        try await UVRunLoop.withThread { loop in
            let port = UVRunLoop.Port(capacity: 64)
            loop.add(port, forMode: .default)
            let sender = startThread {
                for number in 0..<count {
                    _ = port.send(UVRunLoop.PortMessage(id: Int32(number)))
                }
            }
            sender.detach()
            let received = await Pinned(loop).isolated { _ in
                var ids: [Int32] = []
                for await message in port.messages {
                    ids.append(message.id)
                    if ids.count == count { break }
                }
                return ids
            }
            #expect(received == (0..<Int32(count)).map { $0 })
        }
    }

    /// A sender that never pauses keeps the job from ending, but not the loop from its pass.
    @Test func aTaskThatTakesMessagesOnTheLoopStarvesNothing() async throws {
        try await UVRunLoop.withThread { loop in
            let port = UVRunLoop.Port(capacity: 64)
            loop.add(port, forMode: .default)
            let isOver = Signal()
            let sender = startThread {
                while !isOver.hasCome, port.send(UVRunLoop.PortMessage(id: 1)) {}
            }
            let (fires, blocks) = (SharedBox(0), SharedBox(0))
            await Pinned(loop).isolated { _ in
                let timer = UVRunLoop.Timer(
                    after: .zero,
                    interval: .milliseconds(1),
                    sendableHandler: { _ in fires.value += 1 }
                )
                loop.add(timer, forMode: .default)
                loop.perform { blocks.value += 1 }
                // Not for ever, if the loop does nothing else; and slower than the sender.
                var taken = 0
                for await _ in port.messages {
                    usleep(20)
                    taken += 1
                    if fires.value >= 3 || taken == 20_000 { break }
                }
                timer.invalidate()
            }
            #expect(fires.value >= 3 && blocks.value == 1)
            isOver.send()
            port.invalidate()
            sender.detach()
        }
    }

    /// The messages stay for others.
    @Test func aCancelledTaskGetsNoMessageThoughThereAreSome() throws {
        try runTask { loop in
            let port = UVRunLoop.Port(capacity: 4)
            loop.add(port, forMode: .default)
            for number in 1...3 { #expect(port.trySend(number)) }
            let messages = port.messages
            #expect(await first(of: messages)?.id == 1)
            let cancelled = Task(executorPreference: loop.taskExecutor) {
                withUnsafeCurrentTask { unsafe $0?.cancel() }
                return await first(of: messages)?.id
            }
            #expect(await cancelled.value == nil)
            #expect(await first(of: messages)?.id == 2)
        }
    }

    @Test func portWhoseMessagesNobodyTakesFillsUp() throws {
        try runTask { loop in
            let port = UVRunLoop.Port(capacity: 4)
            loop.add(port, forMode: .default)
            for number in 0..<4 { #expect(port.trySend(number)) }
            #expect(!port.trySend(4))
            try await loop.sleep(for: .seconds(1))
            #expect(port.count == 4)
            #expect(!port.trySend(5))
            var iterator = port.messages.makeAsyncIterator()
            #expect(await iterator.next()?.id == 0)
            #expect(port.trySend(6))
            for id in [1, 2, 3, 6] { #expect(await iterator.next()?.id == Int32(id)) }
            #expect(port.count == 0)
        }
    }

    @Test func taskTakesOverFromTheHandler() throws {
        let log = EventLog()
        try runTask { loop in
            let port = UVRunLoop.Port(sendableHandler: { _, message in log.note("\(message.id)") })
            loop.add(port, forMode: .default)
            #expect(port.trySend(1))
            try await loop.sleep(for: .seconds(1))
            let messages = port.messages
            #expect(port.trySend(2))
            #expect(await first(of: messages)?.id == 2)
        }
        #expect(log.entries == ["1"])
    }

    @Test func aTaskThatTakesOverWithinTheHandlerGetsTheRestInOrder() {
        withLoop(.manual) { loop, log in
            let port = UVRunLoop.Port(sendableHandler: { port, message in
                log.note("handler \(message.id)")
                for number in 5..<10 { #expect(port.trySend(number)) }
                // Here, so that the handler is over for the next message.
                let messages = port.messages
                Task(executorPreference: loop.taskExecutor) {
                    for await message in messages { log.note("\(message.id)") }
                }
                loop.run(mode: .default, for: .zero)
                log.note("end")
            })
            loop.add(port, forMode: .default)
            for number in 0..<5 { #expect(port.trySend(number)) }
            for _ in 0..<4 { loop.run(mode: .default, for: .zero) }
            #expect(
                log.entries == ["handler 0"] + (1..<10).map { "\($0)" } + ["end"]
            )
            #expect(port.trySend(10))
            for _ in 0..<2 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries.last == "10" && port.count == 0)
            port.invalidate()
            loop.run(mode: .default, for: .zero)
        }
    }

    @Test func aTaskThatTakesOverAtAnyMomentLosesNothing() async throws {
        let count: Int32 = 2_000
        for round in 0..<25 {
            let received = Guarded<[Int32]>([])
            try await UVRunLoop.withThread { loop in
                let port = UVRunLoop.Port(
                    capacity: 16,
                    sendableHandler: { _, message in received.withLock { $0.append(message.id) } }
                )
                loop.add(port, forMode: .common)
                let sender = startThread {
                    for id in 0..<count { _ = port.send(UVRunLoop.PortMessage(id: id)) }
                }
                while received.withLock({ $0.count }) < round * 40 { await Task.yield() }
                let messages = port.messages
                while received.withLock({ $0.last ?? -1 }) < count - 1 {
                    guard let message = await first(of: messages) else { break }
                    received.withLock { $0.append(message.id) }
                }
                sender.join()
            }
            // The call of the handler that had begun may note its message after the task's first.
            let ids = received.withLock { $0 }
            let lateOnes = zip(ids, ids.dropFirst()).count { $0 > $1 }
            #expect(ids.sorted() == Array(0..<count) && lateOnes <= 1)
        }
    }

    @Test func messagesWaitWhileAnotherModeRuns() {
        withLoop(.manual) { loop, log in
            let aside = UVRunLoop.Mode("aside of messages")
            let port = UVRunLoop.Port()
            loop.add(port, forMode: aside)
            Task(executorPreference: loop.taskExecutor) {
                log.note("\(await first(of: port.messages)?.id ?? 0)")
            }
            loop.run(mode: .default, for: .zero)
            _ = port.send(UVRunLoop.PortMessage(id: 7))
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == [])
            loop.run(mode: aside, for: .zero)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["7"])
        }
    }

    /// Messages that are served many in a row must not keep what their handler starts waiting.
    @Test(arguments: DriverKind.allCases, [false, true])
    func aJobOfAMessageIsPerformedBeforeTheNextMessage(kind: DriverKind, isObserved: Bool) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { _, message in
                log.note("message \(message.id)")
                Task(executorPreference: loop.taskExecutor) {
                    log.note("job \(message.id)")
                    if message.id == 4 { loop.stop() }
                }
            }
            loop.add(port, forMode: .default)
            for id in 0..<5 { #expect(port.trySend(id)) }
            if isObserved {
                loop.add(
                    UVRunLoop.Observer(activities: .beforeTimers) { _, _ in },
                    forMode: .default
                )
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == (0..<5).flatMap { ["message \($0)", "job \($0)"] })
        }
    }

    @Test func invalidationAndCancellationEndAWait() throws {
        try runTask { loop in
            let port = UVRunLoop.Port()
            loop.add(port, forMode: .default)
            let wait = Task(executorPreference: loop.taskExecutor) {
                await first(of: port.messages) == nil
            }
            try await loop.sleep(for: .seconds(1))
            wait.cancel()
            #expect(await wait.value)
            #expect(port.trySend(1))
            #expect(await first(of: port.messages)?.id == 1)
            let other = Task(executorPreference: loop.taskExecutor) {
                await first(of: port.messages) == nil
            }
            try await loop.sleep(for: .seconds(1))
            port.messages.invalidate()
            #expect(await other.value)
        }
    }
}

extension UVRunLoop.Port {
    /// Sends a message without waiting for room.
    fileprivate func trySend(_ id: Int) -> Bool {
        send(UVRunLoop.PortMessage(id: Int32(id)), limit: .zero)
    }
}
