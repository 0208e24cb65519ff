import TestSupport
import Testing

@testable import UVRunLoop

/// Tasks that wait for room in a port, and are cancelled or held up.
@Suite(.timeLimit(.minutes(15))) struct CancelledSenderTests {
    private typealias Port = UVRunLoop.Port

    /// A thread for a task, which can be held up.
    private struct Executor {
        let thread: UVRunLoop.Thread
        private let goOn = Signal()

        init(_ name: String) throws { thread = try UVRunLoop.Thread(name: name) }

        func startSending(
            _ id: Int32,
            to port: Port,
            _ didSend: @escaping @Sendable () -> Void
        ) -> Task<Void, any Error> {
            let task = Task(executorPreference: thread.runLoop.taskExecutor) {
                if try await port.sendWhenThereIsRoom(UVRunLoop.PortMessage(id: id)) { didSend() }
            }
            // The task waits when what was queued after it has been performed.
            try? thread.runLoop.performAndWait {}
            awaitSleep(of: thread.runLoop)
            return task
        }

        func holdUp() { thread.runLoop.perform { [goOn] in goOn.wait() } }
        func release() { goOn.send() }

        func end() {
            thread.stop()
            thread.join()
        }
    }

    /// Nor does it lose its message: that is queued without it.
    @Test func aTaskThatCannotGoOnKeepsNobodyWaiting() throws {
        let (one, other) = try (Executor("one"), Executor("other"))
        let sent = SharedBox(0)
        let cancelled = Box<Task<Void, any Error>?>(nil)
        let hasGoneOn = Box<Bool?>(nil)
        let received = Box<[Int32]>([])
        withLoop(.uv) { loop, _ in
            let port = Port(capacity: 8) { port, message in
                received.value.append(message.id)
                switch message.id {
                case 1:
                    // From now on there is room for one message at a time.
                    #expect(port.send(UVRunLoop.PortMessage(id: 9), limit: .zero))
                    cancelled.value = one.startSending(10, to: port) { sent.value += 100 }
                    _ = other.startSending(11, to: port) { sent.value += 1 }
                    one.holdUp()
                case 3:
                    // The first task was resumed, and cannot go on.
                    hasGoneOn.value = awaitCondition(seconds: 10) { sent.value == 1 }
                    // Too late.
                    cancelled.value?.cancel()
                    one.release()
                    #expect(awaitCondition(seconds: 10) { sent.value == 101 })
                default: break
                }
            }
            for id in Int32(1)...8 { #expect(port.send(UVRunLoop.PortMessage(id: id))) }
            _ = port.queue.receiveMore(port: port) { received.value.count < 11 }
            port.invalidate()
        }
        #expect(hasGoneOn.value == true)
        #expect(received.value == Array(1...11))
        one.end()
        other.end()
    }

    @Test func aTaskThatIsCancelledSendsNothingAndKeepsNobodyWaiting() throws {
        let (one, other) = try (Executor("one"), Executor("other"))
        let sent = SharedBox(0)
        let received = SharedBox<[Int32]>([])
        let port = Port(capacity: 1, sendableHandler: { received.value.append($1.id) })
        #expect(port.send(UVRunLoop.PortMessage(id: 1)))
        let cancelled = one.startSending(2, to: port) { sent.value += 100 }
        _ = other.startSending(3, to: port) { sent.value += 1 }
        cancelled.cancel()
        _ = port.queue.receiveMore(port: port) { received.value.count < 2 }
        #expect(awaitCondition(seconds: 10) { sent.value == 1 })
        #expect(received.value == [1, 3])
        port.invalidate()
        one.end()
        other.end()
    }
}
