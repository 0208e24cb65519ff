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
            try occupyPool(of: loop, until: gate)
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

    @Test func workThatHasNotBegunIsReleasedByTheThreadThatEnds() {
        let (gate, log) = (Signal(), EventLog())
        let thread = startThread {
            let loop = UVRunLoop.current
            defer { log.note("the thread's function is over") }
            guard (try? occupyPool(of: loop, until: gate)) != nil,
                let offload = try? makeOffload(Release(loop, log), {})
            else { return }
            loop.add(offload, forMode: .default)
        }
        thread.join()
        gate.send()
        #expect(log.entries == ["the thread's function is over", "ran the loop here"])
    }
}

/// Notes where an object is released, whose `deinit` runs the loop if that is the loop's thread.
private final class Release: Sendable {
    let log: EventLog
    private let loop: UVRunLoop
    private let home = ThreadIdentity.current

    init(_ loop: UVRunLoop, _ log: EventLog = EventLog()) {
        self.loop = loop
        self.log = log
    }

    func farewell() -> Farewell {
        Farewell { [self] in
            guard ThreadIdentity.current == home else { return log.note("elsewhere") }
            loop.run(mode: UVRunLoop.Mode("aside of a release"), for: .zero)
            log.note("ran the loop here")
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
