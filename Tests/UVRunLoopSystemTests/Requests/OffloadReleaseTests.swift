import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private typealias Offload = UVRunLoop.Offload

/// The captures of an `Offload`'s work, and results that nobody gets, are released where a
/// `deinit` may run the loop: not inside `uv_run`.
@Suite(.timeLimit(.minutes(15))) struct OffloadReleaseTests {
    @Test func theWorksCapturesGoWithItsEnd() throws {
        try withLoop { loop in
            let (release, gate) = (Release(loop), Signal())
            let offload = try makeOffload(release) { gate.wait() }
            gate.send()
            loop.add(offload, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(release.log.entries == ["elsewhere"])
        }
    }

    @Test(arguments: [false, true])
    func theCapturesOfWorkThatHasNotBegunGoWithTheSource(byAnotherThread: Bool) throws {
        try withLoop { loop in
            let (release, gate) = (Release(loop), Signal())
            let busy = try fillPool(until: gate)
            for offload in busy { loop.add(offload, forMode: .default) }
            let offload = try makeOffload(release) {}
            loop.add(offload, forMode: .default)
            if byAnotherThread {
                startThread { offload.invalidate() }.join()
                while release.log.count == 0 { loop.run(mode: .default, for: .milliseconds(1)) }
            } else {
                offload.invalidate()
            }
            #expect(release.log.entries == ["ran the loop here"])
            gate.send()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
    }

    @Test func aResultThatNobodyGetsGoesWithTheWorksEnd() throws {
        try withLoop { loop in
            let (release, begun, gate) = (Release(loop), Signal(), Signal())
            let offload = try Offload {
                begun.send()
                gate.wait()
                return release.farewell()
            } handler: { _, _ in
                Issue.record("The result was to be dropped.")
            }
            loop.add(offload, forMode: .default)
            begun.wait()
            offload.invalidate()
            gate.send()
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            while release.log.count == 0 { loop.run(mode: .default, for: .milliseconds(1)) }
            #expect(release.log.entries == ["elsewhere"])
        }
    }

    @Test func aResultThatWaitsForItsModeGoesWithTheSource() throws {
        try withLoop { loop in
            let release = Release(loop)
            let offload = try Offload {
                release.farewell()
            } handler: { _, _ in
            }
            loop.add(offload, forMode: UVRunLoop.Mode("never runs"))
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            while !offload.link.receiver.isReady { loop.run(mode: .default, for: .milliseconds(1)) }
            #expect(release.log.entries.isEmpty)
            offload.invalidate()
            #expect(release.log.entries == ["ran the loop here"])
        }
    }

    @Test func workThatHasNotBegunIsReleasedByTheThreadThatEnds() throws {
        let (gate, log) = (Signal(), EventLog())
        let thread = startThread {
            let release = Release(.current)
            defer { log.note("\(release.log.entries)") }
            guard let busy = try? fillPool(until: gate),
                let offload = try? makeOffload(release, {})
            else { return }
            for offload in busy { UVRunLoop.current.add(offload, forMode: .default) }
            UVRunLoop.current.add(offload, forMode: .default)
            release.willEnd(noting: log)
        }
        thread.join()
        gate.send()
        #expect(log.entries == ["[]", "released by the thread itself"])
    }
}

/// Notes where an object is released, whose `deinit` runs the loop if that is the loop's thread.
private final class Release: Sendable {
    let log = EventLog()
    private let loop: UVRunLoop
    private let home = ThreadIdentity.current
    private let endLog = SharedBox<EventLog?>(nil)

    init(_ loop: UVRunLoop) { self.loop = loop }

    func willEnd(noting log: EventLog) { endLog.value = log }

    func farewell() -> Farewell {
        Farewell { [self] in
            guard ThreadIdentity.current == home else { return log.note("elsewhere") }
            loop.run(mode: UVRunLoop.Mode("aside of a release"), for: .zero)
            log.note("ran the loop here")
            endLog.value?.note("released by the thread itself")
        }
    }
}

/// An `Offload` whose work is the last to have an object.
private func makeOffload(
    _ release: Release,
    _ work: @escaping @Sendable () -> Void
) throws -> Offload<Void> {
    let farewell = release.farewell()
    return try Offload {
        work()
        withExtendedLifetime(farewell) {}
    } handler: { _, _ in
    }
}

/// More work than the pool has threads, which waits for a signal.
private func fillPool(until gate: Signal) throws -> [Offload<Void>] {
    try (0..<16).map { _ in
        try Offload {
            gate.wait()
        } handler: { _, _ in
        }
    }
}
