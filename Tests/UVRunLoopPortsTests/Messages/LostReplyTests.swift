import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Replies that the system does not send or tell of, and ports that it does not watch.
@Suite(.timeLimit(.minutes(15))) struct LostReplyTests {
    /// The sender looks for the reply itself, and serves the mode's timers meanwhile.
    @Test func aReplyIsReceivedOverAConnectionThatTheKernelDoesNotWatch() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let isAllowed = Signal()
            let server = try PortServer(place) { _, message in
                isAllowed.wait()
                return message.data
            }
            try onAnotherThread {
                let remote = try place.remote()
                refuseWatching(remote.connection.socket?.descriptor.number ?? -1)
                let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in isAllowed.send() }
                UVRunLoop.current.add(timer, forMode: .reply)
                for number in 1...3 as ClosedRange<UInt8> {
                    let reply = try remote.request([number], receiveLimit: .seconds(600))
                    precondition(reply == [number])
                }
            }
            server.stop()
        }
    }

    @Test func aTasksRequestFailsIfTheKernelDoesNotWatchItsConnection() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            // A reply that is there before the refusal would be received.
            let hasFailed = Signal()
            let server = try PortServer(place) { _, message in
                hasFailed.wait()
                return message.data
            }
            try onAnotherThread {
                let loop = UVRunLoop.current
                let remote = try place.remote()
                refuseWatching(remote.connection.socket?.descriptor.number ?? -1)
                let error = SharedBox<MessagePortError?>(nil)
                Task(executorPreference: loop.taskExecutor) {
                    do {
                        _ = try await remote.request(data: [1], limit: .seconds(600))
                    } catch let failure {
                        error.value = failure as? MessagePortError
                    }
                    loop.stop()
                }
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                precondition(loop.run(mode: .default, for: .seconds(600)) == .stopped)
                hasFailed.send()
                precondition(error.value?.underlying == UVError(rawValue: -ENOSPC))
            }
            server.stop()
        }
    }

    @Test func aLocalPortThatTheKernelDoesNotWatchTellsThatItIsInvalid() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            try onAnotherThread {
                let loop = UVRunLoop.current
                let log = EventLog()
                let port = try place.local { _, _ in nil }
                port.invalidationHandler = { port in
                    log.note("invalid: \(!port.isValid)")
                    loop.stop()
                }
                refuseWatching(port.link.descriptor)
                loop.add(port, forMode: .default)
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                precondition(loop.run(mode: .default, for: .seconds(600)) == .stopped)
                precondition(port.invalidationHandler == nil)
                port.invalidate()
                precondition(log.entries == ["invalid: true"])
            }
        }
    }

    @Test func aRequestWhoseReplyCannotBeSentFailsBeforeItsLimit() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let server = try PortServer(place) { _, message in
                refuse(.sendto)
                return message.data
            }
            let remote = try place.remote()
            for _ in 0..<2 {
                do {
                    _ = try remote.request([1])
                    Issue.record("There was a reply.")
                } catch let error as MessagePortError {
                    #expect(error.code != .receiveTimedOut)
                }
            }
            server.stop()
        }
    }
}
