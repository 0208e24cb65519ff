import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Connections that are added to a group when its last one has ended, and before its completion is
/// called: no deadline would end them any more.
@Suite(.timeLimit(.minutes(15))) struct LateConnectionTests {
    typealias Group = UVRunLoop.ConnectionGroup

    @Test func aConnectionThatIsAddedAfterTheCutIsClosed() throws {
        try expectNoEntry { group, first, log in
            group.add(first)
            group.end(limit: .zero) { _ in log.note("end") }
        }
    }

    @Test(arguments: [nil, Duration.zero, .seconds(5)])
    func aConnectionThatIsAddedToAnEmptyGroupThatEndsIsClosed(limit: Duration?) throws {
        try expectNoEntry { group, _, log in
            group.end(limit: limit) { _ in log.note("end") }
        }
    }

    @Test func aConnectionThatIsAddedAfterTheLastOneIsClosed() throws {
        try expectNoEntry { group, first, log in
            group.add(first)
            group.end(limit: nil) { _ in log.note("end") }
            first.invalidate()
        }
    }

    @Test func aConnectionThatIsAddedAfterAGoodbyeHasCutIsClosed() throws {
        let cut = Box<(() -> Void)?>(nil)
        try expectNoEntry(goodbye: { _ in cut.value?() }) { group, first, log in
            cut.value = { group.end(limit: .zero) }
            group.add(first)
            group.end(limit: nil) { _ in log.note("end") }
        }
        cut.value = nil
    }

    /// Expects that a group which has ended closes another connection, and then tells of its end.
    private func expectNoEntry(
        goodbye: ((SocketPort) -> Void)? = nil,
        afterwards end: (Group, SocketPort, EventLog) -> Void
    ) throws {
        try withLoop(.manual) { loop, log in
            let maker = try UnixConnections()
            let (first, late) = (try maker.connect(), try maker.connect())
            let group = Group(on: loop, goodbye: goodbye)
            end(group, first.port, log)
            #expect(log.entries == [])
            group.add(late.port)
            #expect(!late.port.isValid)
            #expect(loop.run(for: .seconds(60)) == .finished)
            #expect(log.entries == ["end"])
            late.port.invalidate()
            #expect(late.peer.read() == [])
        }
    }
}
