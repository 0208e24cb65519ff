import Glibc
import Testing
import UVRunLoop

/// Requests to perform after a delay.
@Suite(.timeLimit(.minutes(15))) struct DelayedPerformTests {
    @Test(arguments: DriverKind.allCases)
    func aRequestWithoutDelayIsNeverPerformedAtOnceNorInThePassItWasMadeIn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop, .beforeTimers)
            loop.requestPerform(after: .zero) {
                log.note("first")
                letTimePass(.microseconds(1), loop)
                loop.requestPerform(after: .zero) { log.note("second") }
                log.note("asked")
            }
            loop.perform { loop.requestPerform(after: .seconds(-1)) { log.note("from a block") } }
            #expect(log.entries == [])
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(
                log.entries == [
                    "beforeTimers", "first", "asked", "beforeTimers", "from a block", "second",
                ]
            )
        }
    }

    /// The request is due, but not for this pass, so the port has its turn.
    @Test(arguments: DriverKind.allCases)
    func aRequestForALaterPassLeavesTheEventToAReadyPort(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { _, message in log.note("message \(message.id)") }
            loop.add(port, forMode: .default)
            for id in 1...2 { #expect(port.send(UVRunLoop.PortMessage(id: Int32(id)))) }
            let runOnce = {
                loop.run(mode: .default, for: .zero, returnAfterSourceHandled: true)
            }
            #expect(runOnce() == .handledSource)
            let observer = UVRunLoop.Observer(activities: .beforeSources, repeats: false) { _, _ in
                loop.requestPerform(after: .zero) { log.note("request") }
            }
            loop.add(observer, forMode: .default)
            #expect(runOnce() == .handledSource)
            #expect(log.entries == ["message 1", "message 2"])
            #expect(runOnce() == .timedOut)
            #expect(log.entries == ["message 1", "message 2", "request"])
            port.invalidate()
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestWithoutDelayIsNotPerformedInItsPassAfterANestedRunEither(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode("another mode of a nested run")
            log.observe(loop, .beforeTimers)
            loop.perform {
                loop.requestPerform(after: .zero) { log.note("request") }
                loop.perform(inModes: [other]) { log.note("nested") }
                #expect(loop.run(mode: other, for: nil) == .finished)
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["beforeTimers", "nested", "beforeTimers", "request"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func requestsWithoutDelayRunInTheOrderInWhichTheyWereMade(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.perform {
                for number in 1...20 {
                    loop.requestPerform(after: .zero) { log.note("\(number)") }
                }
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == (1...20).map { "\($0)" })
        }
    }

    /// The first request is due in its own pass, and the second one is made before the next.
    @Test(arguments: DriverKind.allCases)
    func aRequestThatWasPutOffStaysAheadOfLaterOnes(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                loop.requestPerformLocally(after: .zero) { log.note("second") }
            }
            loop.add(timer, forMode: .default)
            loop.performLocally {
                loop.requestPerformLocally(after: .zero) { log.note("first") }
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestIsPerformedAfterItsDelayAndNotBefore(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            loop.requestPerform(after: .milliseconds(20)) {
                log.note(loop.now - start >= .milliseconds(20) ? "late enough" : "early")
            }
            let isMade = loop.now
            loop.requestPerform(after: .milliseconds(5)) {
                log.note(loop.now - isMade >= .milliseconds(5) ? "sooner" : "early")
            }
            let isSooner = loop.now - start < .milliseconds(15)
            let result = loop.run(mode: .default, for: .milliseconds(1))
            if kind == .manual { #expect(result == .timedOut && log.entries == []) }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            // On a busy machine the first delay may be over before the other one begins.
            #expect(Set(log.entries) == ["sooner", "late enough"])
            if isSooner { #expect(log.entries == ["sooner", "late enough"]) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDelayedRequestIsForTheDefaultModeUnlessItSaysOtherwise(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.requestPerform(after: .zero) { log.note("default") }
            loop.requestPerform(after: .zero, inModes: [.eventTracking]) { log.note("tracking") }
            #expect(loop.run(mode: .eventTracking, for: nil) == .finished)
            #expect(log.entries == ["tracking"])
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["tracking", "default"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDelayedRequestForSeveralModesRunsOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let modes: [UVRunLoop.Mode] = [.default, .eventTracking, .default]
            loop.requestPerform(after: .zero, inModes: modes) { log.note("once") }
            #expect(loop.run(mode: .eventTracking, for: nil) == .finished)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["once"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDelayedRequestIsNoSource(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.requestPerform(after: .zero) { log.note("done") }
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .finished)
            #expect(log.entries == ["done"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDelayedRequestMayBeMadeOnAnotherThread(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            elsewhere(after: .milliseconds(1), loop) {
                loop.requestPerform(after: .zero) {
                    log.note(UVRunLoop.current === loop ? "at home" : "elsewhere")
                    loop.stop()
                }
            }
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["at home"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCancelledDelayedRequestLeavesNothingInItsMode(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let request = loop.requestPerform(after: .seconds(3600), target: Witness("target", log))
            {
                [witness = Witness("block", log)] in witness.note("runs")
            }
            #expect(request.isPending)
            #expect(loop.nextFireDate(forMode: .default) != nil)
            #expect(request.cancel())
            #expect(!request.isPending)
            #expect(Set(log.entries) == ["target gone", "block gone"])
            #expect(loop.nextFireDate(forMode: .default) == nil)
            #expect(loop.run(mode: .default, for: nil) == .finished)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPostponedRequestCanStillBeCancelled(kind: DriverKind) {
        withLoop(kind) { loop, log in
            var request: UVRunLoop.PerformRequest?
            let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
                if let request { log.note("\(request.cancel())") }
            }
            loop.add(observer, forMode: .default)
            loop.performLocally {
                request = loop.requestPerform(after: .zero) { log.note("performed") }
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["true"])
        }
    }

    // MARK: Blocks that stay at home

    @Test(arguments: DriverKind.allCases)
    func aLocalRequestMayUseWhatIsNotSendable(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let box = Box(0)
            loop.requestPerformLocally(after: .milliseconds(1), target: box, key: "add") {
                box.value += 1
            }
            loop.requestPerformLocally(after: .zero, target: box) { box.value += 10 }
            loop.requestPerformLocally(after: .zero, target: box, key: "gone") { box.value = -1 }
            #expect(loop.cancelPerformRequests(target: box, key: "gone") == 1)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(box.value == 11)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLocalRequestThatAnotherThreadCancelsIsReleasedAtHome(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let request = loop.requestPerformLocally(after: .seconds(3600)) {
                [witness = HomeWitness(log)] in withExtendedLifetime(witness) {}
            }
            onAnotherThread { log.note("\(request.cancel())") }
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["true", "released at home"])
        }
    }

    @Test func aLocalRequestOnAnotherThreadTraps() async {
        await #expect(processExitsWith: .failure) { requestLocallyElsewhere() }
    }
}

/// Tells on which thread it is gone.
private final class HomeWitness {
    private let log: EventLog
    private let home = pthread_self()

    init(_ log: EventLog) { self.log = log }

    deinit { log.note(pthread_self() == home ? "released at home" : "released elsewhere") }
}

private func requestLocallyElsewhere() {
    let loop = UVRunLoop.current
    onAnotherThread { loop.requestPerformLocally(after: .zero) {} }
}
