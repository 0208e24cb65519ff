import Glibc
import Synchronization
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The release of a name while other threads of the process want it.
@Suite(.timeLimit(.minutes(15))) struct NameReleaseTests {
    /// The state between the two steps of `invalidate()`, as another thread finds it.
    @Test func theNameOfAPortThatIsBecomingInvalidIsFree() throws {
        let place = Place()
        let old = try place.local { _, _ in nil }
        UVRunLoop.invalidateKeepingHandler(old.link)
        let new = try place.local { _, _ in nil }
        #expect(new !== old && new.isValid)
        // Its late second step does not take the new port's name.
        old.invalidate()
        #expect(try place.local { _, _ in nil } === new)
        #expect(place.entries == ["port.lock", "port.port"])
        new.invalidate()
        #expect(place.entries.isEmpty)
    }

    @Test(arguments: [true, false])
    func threadsThatMakeAndEndAPortFindItsNameFree(isInvalidated: Bool) throws {
        let place = Place()
        let errors = Guarded<[String]>([])
        let threads = (0..<3).map { _ in
            startThread {
                do {
                    for _ in 0..<300 {
                        let port = try place.local { _, _ in nil }
                        if isInvalidated { port.invalidate() }
                    }
                } catch {
                    errors.withLock { $0.append("\(error)") }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(errors.withLock { $0 } == [])
        #expect(place.entries.isEmpty)
    }

    @Test func theNameIsReleasedWhenEitherOfTwoInvalidationsReturns() throws {
        let place = Place()
        let leftovers = Guarded<[String]>([])
        for _ in 0..<300 {
            let port = try place.local { _, _ in nil }
            let barrier = Barrier(of: 2)
            let threads = (0..<2).map { _ in
                startThread {
                    barrier.meet()
                    port.invalidate()
                    let entries = place.entries
                    leftovers.withLock { $0 += entries }
                }
            }
            for thread in threads { thread.join() }
        }
        #expect(leftovers.withLock { $0 } == [])
    }

    @Test func aPortsOwnHandlerMakesItsNameAnew() throws {
        let place = Place()
        let log = EventLog()
        let loop = UVRunLoop.current
        let port = try place.local { port, _ in
            port.invalidate()
            port.invalidate()
            let new = try? place.local { _, _ in nil }
            log.note("made: \(new.map { $0.isValid && $0 !== port } ?? false)")
            new?.invalidate()
            loop.stop()
            return nil
        }
        loop.add(port, forMode: .default)
        let remote = try place.remote()
        try remote.sendOneWay([1])
        loop.run(mode: .default, for: .seconds(60))
        #expect(log.entries == ["made: true"])
        #expect(place.entries.isEmpty)
    }

    /// The last reference of an object that a handler holds is dropped by the port's own end.
    @Test(arguments: [true, false])
    func whatEndsWithAPortMakesItsNameAnew(isInvalidated: Bool) throws {
        let place = Place()
        let log = EventLog()
        do {
            let farewell = NameUser(place, log)
            let port = try place.local { _, _ in withExtendedLifetime(farewell) { nil } }
            if isInvalidated { port.invalidate() }
        }
        #expect(log.entries == ["made: true"])
        #expect(place.entries.isEmpty)
    }

    /// In a child, no thread of its parent will finish a release.
    @Test(.enabled(if: !isUnderThreadSanitizer))
    func aForkedChildDoesNotWaitForItsParentsRelease() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            for _ in 0..<100 {
                let claim = try NameClaim(place.directory().files(of: PortName("name")))
                let listener = try claim.listen(backlog: 1)
                let isReleasing = Signal()
                let thread = startThread {
                    isReleasing.send()
                    claim.release()
                }
                isReleasing.wait()
                let status = inChild(endingAfter: 120) {
                    claim.release()
                    return 0
                }
                #expect(status == 0)
                thread.join()
                _ = consume listener
            }
            #expect(place.entries.isEmpty)
        }
    }
}

/// Makes and ends a port with the name when it is released.
private final class NameUser: Sendable {
    private let place: Place
    private let log: EventLog

    init(_ place: Place, _ log: EventLog) {
        self.place = place
        self.log = log
    }

    deinit {
        let port = try? place.local { _, _ in nil }
        log.note("made: \(port?.isValid ?? false)")
        port?.invalidate()
    }
}

/// A point that several threads leave at the same time.
private final class Barrier: Sendable {
    private let count: Int
    private let arrived = Atomic(0)

    init(of count: Int) { self.count = count }

    func meet() {
        arrived.add(1, ordering: .relaxed)
        while arrived.load(ordering: .relaxed) < count { sched_yield() }
    }
}
