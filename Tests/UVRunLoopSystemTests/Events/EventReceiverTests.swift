import TestSupport
import Testing
import UVRunLoop

@testable import UVRunLoopSystem

@Suite(.timeLimit(.minutes(15))) struct EventReceiverTests {
    /// The exit of a child is an event whose taker collects the status, which needs the descriptor.
    @Test func noEventIsTakenFromASourceOfWhichThingsAreReleased() {
        let inbox = EventInbox<Int>()
        let taken = SharedBox<Int?>(0)
        let receiver = EventReceiver<UVRunLoop.Port, Int>(
            inbox,
            [],
            { _, _ in },
            didRelease: { taken.value = inbox.take() }
        )
        inbox.append(1)
        receiver.releaseHandler()
        #expect(taken.value == nil)
    }
}
