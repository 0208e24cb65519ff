import Glibc
import TestSupport
import Testing
import UVRunLoop

/// The end of a peer in a process where `poll` fails, because it may open no descriptors.
@Suite(.timeLimit(.minutes(15))) struct FailingPollTests {
    @Test func whatAPeerSentBeforeItClosedIsReadFirst() async {
        await #expect(processExitsWith: .success) { try readUntilTheEnd { close($0) } }
    }

    @Test func whatAPeerSentBeforeItStoppedSendingIsReadFirst() async {
        await #expect(processExitsWith: .success) {
            try readUntilTheEnd { shutdown($0, CInt(SHUT_WR)) }
        }
    }

    @Test func thatThereIsRoomIsToldMeanwhile() async {
        await #expect(processExitsWith: .success) {
            try readUntilTheEnd([.readable, .writable]) { shutdown($0, CInt(SHUT_WR)) }
        }
    }

    @Test func aTerminalThatIsWritableHasNotHungUp() async {
        await #expect(processExitsWith: .success) { try waitForATerminal() }
    }

    @Test func anEventForAnotherModeIsNoHangUp() async {
        await #expect(processExitsWith: .success) { try runWhereNobodyWaitsForTheEvent() }
    }
}

/// Runs a mode in which nobody waits for the event that the kernel still reports.
private func runWhereNobodyWaitsForTheEvent() throws {
    let (own, peer) = socketPair()
    let (loop, log) = (UVRunLoop.current, EventLog())
    let reader = try UVRunLoop.DescriptorSource(own, events: .readable) { source, events in
        var byte: UInt8 = 0
        log.note("\(events), read \(read(source.descriptor, &byte, 1))")
    }
    let writer = try UVRunLoop.DescriptorSource(own, events: .writable) { _, events in
        log.note("\(events)")
    }
    let other = UVRunLoop.Mode("other")
    loop.add(reader, forMode: .default)
    loop.add(reader, forMode: other)
    loop.add(writer, forMode: .default)
    setDescriptorLimit(0)
    loop.run(mode: .default, for: .zero)
    loop.run(mode: other, for: .milliseconds(1))
    precondition(write(peer, [1], 1) == 1)
    loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
    let expected = ["\(UVRunLoop.DescriptorSource.Events.writable)", "\(reader.events), read 1"]
    precondition(log.entries == expected, "\(log.entries)")
    reader.invalidate()
    writer.invalidate()
}

/// Reads little by little what a peer sends before its end.
private func readUntilTheEnd(
    _ events: UVRunLoop.DescriptorSource.Events = .readable,
    _ end: (CInt) -> Void
) throws {
    let (own, peer) = socketPair()
    let loop = UVRunLoop.current
    var total = 0
    var (peerHasEnded, hasEnded) = (false, false)
    let source = try UVRunLoop.DescriptorSource(own, events: events) { source, told in
        guard peerHasEnded else { return }
        precondition(total == 10_000 || told.isSuperset(of: events), "told \(told)")
        var bytes = [UInt8](repeating: 0, count: 1_000)
        let count = read(source.descriptor, &bytes, bytes.count)
        total += max(count, 0)
        hasEnded = count == 0
        if hasEnded { source.invalidate() }
    }
    loop.add(source, forMode: .default)
    loop.run(mode: .default, for: .zero)
    setDescriptorLimit(0)
    precondition(write(peer, [UInt8](repeating: 1, count: 10_000), 10_000) == 10_000)
    end(peer)
    peerHasEnded = true
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
    precondition(total == 10_000 && hasEnded, "read \(total) bytes")
}

private func waitForATerminal() throws {
    var (controller, terminal): (CInt, CInt) = (-1, -1)
    precondition(openpty(&controller, &terminal, nil, nil, nil) == 0)
    let (loop, events) = (UVRunLoop.current, Box<UVRunLoop.DescriptorSource.Events>([]))
    let source = try UVRunLoop.DescriptorSource(terminal, events: .writable) { source, found in
        events.value = found
        source.invalidate()
    }
    loop.add(source, forMode: .default)
    setDescriptorLimit(0)
    loop.run(mode: .default, for: .seconds(60))
    precondition(events.value == .writable, "\(events.value)")
}
