import CUV
import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopSystem

/// Descriptors that sources give to libuv themselves.
@Suite(.timeLimit(.minutes(15))) struct PolledDescriptorTests {
    @Test func aNumberThatAnotherThreadHasJustReleasedMeansTheNewFile() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { startThread { pollANumberUsedAgain() }.join() }
        }
    }
}

private final class Poll: PolledDescriptor, @unchecked Sendable {
    let count = Counter()

    override func isReady() {
        drain(descriptor)
        count.add()
    }
}

private func pollANumberUsedAgain() {
    let loop = UVRunLoop.current
    let timer = UVRunLoop.Timer(after: .seconds(3_600), handler: { _ in })
    loop.add(timer, forMode: .default)
    let old = socketPair()
    guard
        let source = try? UVRunLoop.DescriptorSource(
            old.0,
            events: .readable,
            sendableHandler: { _, _ in }
        ), let site = try? LoopSite(.open)
    else { preconditionFailure("Nothing can be watched.") }
    loop.add(source, forMode: .default)
    loop.run(mode: .default, for: .zero)
    startThread {
        source.invalidate()
        close(old.0)
    }
    .join()
    let new = socketPair()
    precondition(new.0 == old.0, "The number is not used again.")
    guard let poll = try? Poll(site, owning: Descriptor(owning: new.0)) else {
        preconditionFailure("The new file is taken for the old one.")
    }
    precondition((try? poll.watch(CInt(UV_READABLE.rawValue))) != nil)
    for count in 1...3 {
        write("x", to: new.1)
        loop.run(mode: .default, for: .zero)
        precondition(poll.count.value == count, "An event is lost.")
    }
    poll.close()
    loop.run(mode: .default, for: .zero)
    timer.invalidate()
}
