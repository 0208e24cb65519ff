import Glibc
import Testing

@testable import UVRunLoop

/// When a port joins its loop and leaves it, compared with what else happens to it then.
@Suite(.timeLimit(.minutes(15))) struct PortOwnerTests {
    /// An event that comes after the question has to be announced to the loop.
    @Test func aPortIsAskedForItsEventWhenItIsInTheLoop() {
        withLoop { loop in
            let port = AskedPort()
            loop.add(port, forMode: .default)
            #expect(port.wasInLoop == true)
            loop.remove(port, forMode: .default)
        }
    }

    /// The kernel would report it to the loop that ends, and the other loop could not watch it.
    @Test func aPortStaysInALoopThatEndsWhileTheKernelWatchesIt() throws {
        let pipe = Pipe()
        let other = LoopOnAThread()
        let source = try UVRunLoop.DescriptorSource(
            pipe.readEnd,
            events: .readable,
            sendableHandler: { _, _ in }
        )
        let (isAdded, wasAdded) = (SharedBox(false), SharedBox<Bool?>(nil))
        let adder = SharedBox<RunningThread?>(nil)
        try UVRunLoop.withLoop { word in
            try CountingDriver(wakeState: word) {
                adder.value = startThread {
                    other.loop.add(source, forMode: .default)
                    isAdded.value = true
                }
                usleep(20_000)
                wasAdded.value = isAdded.value
            }
        } _: { loop in
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .zero)
        }
        #expect(wasAdded.value == false)
        adder.value?.join()
        source.invalidate()
        other.stop()
        other.join()
    }
}

/// A port that tells whether it was in a loop when it was asked for its event.
private final class AskedPort: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    private let receiver = Receiver()

    init() {
        link = UVRunLoop.PortLink(descriptor: nil, events: [], order: 0, receiver: receiver)
        receiver.port.value = self
    }

    var wasInLoop: Bool? { receiver.wasInLoop.value }

    private final class Receiver: PortReceiver {
        let port = SharedBox<AskedPort?>(nil)
        let wasInLoop = SharedBox<Bool?>(nil)

        func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {}

        var isReady: Bool {
            wasInLoop.value = exchange(&port.value, with: nil).map { $0.link.loop != nil }
            return false
        }

        func receive(
            port: AskedPort,
            _ events: UVRunLoop.DescriptorSource.Events
        ) -> ServeResult {
            ServeResult(wasHandled: false)
        }

        func releaseHandler() {}
    }
}
