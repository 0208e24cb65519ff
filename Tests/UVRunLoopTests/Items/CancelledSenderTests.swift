import TestSupport
import Testing

@testable import UVRunLoop

/// Tasks that wait for room in a port, and are cancelled when they are about to go on.
@Suite(.timeLimit(.minutes(15))) struct CancelledSenderTests {
    private typealias Port = UVRunLoop.Port

    /// A thread for a task, which can be held up.
    private struct Executor {
        let thread: UVRunLoop.Thread
        private let goOn = Signal()

        init(_ name: String) throws { thread = try UVRunLoop.Thread(name: name) }

        func startSending(
            to port: Port,
            _ didSend: @escaping @Sendable () -> Void
        ) -> Task<
            Void, any Error
        > {
            let task = Task(executorPreference: thread.runLoop.taskExecutor) {
                if try await port.sendWhenThereIsRoom(UVRunLoop.PortMessage(id: 0)) { didSend() }
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

    @Test func aTaskThatIsCancelledLeavesTheRoomToTheNextOne() throws {
        let (one, other) = try (Executor("one"), Executor("other"))
        let sent = SharedBox(0)
        let cancelled = Box<Task<Void, any Error>?>(nil)
        let hasGoneOn = Box<Bool?>(nil)
        withLoop(.uv) { loop, _ in
            let port = Port(capacity: 8) { port, message in
                switch message.id {
                case 1:
                    // Senders were woken; from now on there is room for one message at a time.
                    #expect(port.send(UVRunLoop.PortMessage(id: 9), limit: .zero))
                    cancelled.value = one.startSending(to: port) { sent.value += 100 }
                    _ = other.startSending(to: port) { sent.value += 1 }
                    one.holdUp()
                case 2:
                    // The first task was resumed, and cannot go on.
                    cancelled.value?.cancel()
                    one.release()
                    hasGoneOn.value = awaitCondition(seconds: 10) { sent.value == 1 }
                default: break
                }
            }
            for id in Int32(1)...8 { #expect(port.send(UVRunLoop.PortMessage(id: id))) }
            _ = port.queue.receiveMore(port: port) { hasGoneOn.value == nil }
            port.invalidate()
        }
        #expect(hasGoneOn.value == true)
        one.end()
        other.end()
    }
}
