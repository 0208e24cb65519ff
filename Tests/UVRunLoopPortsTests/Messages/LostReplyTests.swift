import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Replies that the system does not send.
@Suite(.timeLimit(.minutes(15))) struct LostReplyTests {
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
