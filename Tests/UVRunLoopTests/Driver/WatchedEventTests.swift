import Glibc
import Testing

@testable import UVRunLoop

/// The events of a source that waits for others than before.
@Suite(.timeLimit(.minutes(15))) struct WatchedEventTests {
    /// No poll is skipped then, as after a source was added.
    @Test(arguments: DriverKind.allCases)
    func aSourceThatWaitsForMoreIsServedInItsTurn(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let ends = socketPair()
            defer { for end in [ends.0, ends.1] { close(end) } }
            func note(_ entry: String) {
                log.note(entry)
                if log.entries.count == 6 { loop.stop() }
            }
            let source = try UVRunLoop.DescriptorSource(ends.0, events: .readable) { source, _ in
                note("descriptor")
                source.invalidate()
            }
            let port = UVRunLoop.Port { _, message in
                note("\(message.id)")
                if message.id == 1 { source.link.setEvents { [.readable, .writable] } }
            }
            loop.add(source, forMode: .default)
            loop.add(port, forMode: .default)
            for id in 1...5 as ClosedRange<Int32> {
                #expect(port.send(UVRunLoop.PortMessage(id: id), limit: .zero))
            }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["1", "2", "descriptor", "3", "4", "5"])
        }
    }
}
