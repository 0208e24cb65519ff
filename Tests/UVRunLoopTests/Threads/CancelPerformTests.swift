import Testing

@testable import UVRunLoop

/// Requests that are withdrawn: by token, by target, by target and key.
@Suite(.timeLimit(.minutes(15))) struct CancelPerformTests {
    @Test(arguments: DriverKind.allCases)
    func aCancelledRequestIsNotPerformedAndReleasedAtOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let request = loop.requestPerform(target: Witness("target", log)) {
                [witness = Witness("block", log)] in witness.note("runs")
            }
            #expect(request.isPending)
            #expect(request.cancel())
            #expect(!request.isPending)
            #expect(!request.cancel())
            #expect(Set(log.entries) == ["target gone", "block gone"])
            #expect(loop.run(mode: .default, for: nil) == .finished)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestPrintsWhetherItWaits(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let requests = SharedBox<[UVRunLoop.PerformRequest]>([])
            for _ in 0..<2 {
                let request = loop.requestPerform {
                    for request in requests.value { log.note("\(request)") }
                }
                requests.value.append(request)
            }
            let (pending, over) = ("PerformRequest: pending", "PerformRequest: not pending")
            #expect(requests.value.map { "\($0)" } == [pending, pending])
            requests.value[1].cancel()
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == [over, over])
            requests.value = []
        }
    }

    /// As if another thread had cancelled it when the loop had just taken the source's signal.
    @Test(arguments: DriverKind.allCases)
    func aSourceOfRequestsWithNoneToPerformIsNoHandledSource(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            #expect(loop.requestPerform {}.cancel())
            let source = try #require(loop.performQueue.withLock { $0.source })
            loop.add(source, forMode: .default)
            log.observe(loop, .beforeWaiting)
            for (isAlone, limit) in [(true, 1), (false, 1), (false, 0)] {
                let companion = UVRunLoop.Source { _ in log.note("performed") }
                loop.add(companion, forMode: .default)
                source.signal()
                if !isAlone { companion.signal() }
                let result = loop.run(for: .milliseconds(limit), returnAfterSourceHandled: true)
                #expect(result == (isAlone ? .timedOut : .handledSource))
                companion.invalidate()
            }
            #expect(log.entries == ["beforeWaiting", "performed", "performed"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestThatRanOrRunsCannotBeCancelled(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let token = SharedBox<UVRunLoop.PerformRequest?>(nil)
            token.value = loop.requestPerform {
                let request = token.value
                log.note("\(request?.isPending ?? true) \(request?.cancel() ?? true)")
            }
            loop.run(mode: .default, for: nil)
            #expect(token.value?.cancel() == false)
            #expect(log.entries == ["false false"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTargetsRequestsAreCancelledAndNoOthers(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let (target, other) = (Target(), Target())
            for name in ["a", "b"] {
                loop.requestPerform(target: target, key: name) { log.note("target \(name)") }
                loop.requestPerform(target: other, key: name) { log.note("other \(name)") }
                loop.requestPerform(after: .zero, target: target, key: name) { log.note("late") }
            }
            loop.requestPerform(target: target) { log.note("target") }
            loop.requestPerform { log.note("nobody's") }
            #expect(loop.cancelPerformRequests(target: target) == 5)
            #expect(loop.cancelPerformRequests(target: target) == 0)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["other a", "other b", "nobody's"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func cancellingReachesTheRequestsOfOneLoopOnly(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let target = Target()
            loop.requestPerform(target: target, key: 1) { log.note("here") }
            loop.requestPerform(after: .zero, target: target, key: 1) { log.note("here, later") }
            // On another thread the target's requests are those of its loop.
            onAnotherThread {
                let other = UVRunLoop.current
                other.requestPerform(target: target, key: 1) { log.note("there") }
                other.requestPerform(after: .zero, target: target, key: 1) {
                    log.note("there, later")
                }
                #expect(loop.cancelPerformRequests(target: target, key: 1) == 2)
                #expect(loop.cancelPerformRequests(target: target) == 0)
                #expect(other.run(mode: .default, for: nil) == .finished)
                #expect(other.cancelPerformRequests(target: target) == 0)
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["there", "there, later"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func keysAreComparedByValueAndNoKeyMeansNone(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let target = Target()
            loop.requestPerform(target: target, key: "a" + "bc") { log.note("abc") }
            loop.requestPerform(target: target, key: 1) { log.note("1") }
            loop.requestPerform(target: target) { log.note("none") }
            loop.requestPerform(target: target, key: "b") { log.note("b") }
            #expect(loop.cancelPerformRequests(target: target, key: "abc") == 1)
            #expect(loop.cancelPerformRequests(target: target, key: nil) == 1)
            #expect(loop.cancelPerformRequests(target: target, key: 2) == 0)
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["1", "b"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aKeysComparisonMayUseTheLoop(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let target = Target()
            let key = MeddlingKey(loop: loop, target: target)
            loop.requestPerform(target: target, key: key) { log.note("never") }
            #expect(loop.cancelPerformRequests(target: target, key: key) == 1)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestCancelsThoseBehindIt(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let target = Target()
            let token = SharedBox<UVRunLoop.PerformRequest?>(nil)
            loop.requestPerform {
                log.note("1")
                token.value?.cancel()
                loop.cancelPerformRequests(target: target)
            }
            token.value = loop.requestPerform { log.note("2") }
            loop.requestPerform(target: target) { log.note("3") }
            loop.requestPerform { log.note("4") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["1", "4"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestOfSeveralModesIsCancelledInAll(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let target = Target()
            let modes = [UVRunLoop.Mode("A"), UVRunLoop.Mode("B"), .common]
            loop.requestPerform(inModes: modes, target: target) { log.note("never") }
            #expect(loop.cancelPerformRequests(target: target) == 1)
            for mode in [UVRunLoop.Mode("A"), UVRunLoop.Mode("B"), .default] {
                #expect(loop.run(mode: mode, for: nil) == .finished)
            }
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSleepingLoopFinishesWhenItsLastRequestIsCancelledByAnotherThread(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let request = loop.requestPerform(after: .seconds(3600)) { log.note("never") }
            elsewhere(after: .milliseconds(2), loop) { request.cancel() }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func releasingWhatWasCancelledMayUseTheLoop(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let request = loop.requestPerform { [farewell = lastRequest(of: loop, log)] in
                withExtendedLifetime(farewell) {}
            }
            request.cancel()
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["last word"])
        }
    }

    @Test func requestsCancelledWhileTheyRunAreEitherDoneOrCancelled() throws {
        let worker = try UVRunLoop.Thread()
        let log = EventLog()
        var cancelled = 0
        for _ in 0..<2000 {
            let request = worker.runLoop.requestPerform { log.note("") }
            if request.cancel() { cancelled += 1 }
        }
        worker.stop()
        worker.join()
        #expect(log.entries.count + cancelled == 2000)
    }

    @Test func manyRequestsOfOneTargetAreCancelledQuickly() {
        withLoop(.manual) { loop, log in
            let target = Target()
            for key in 0..<20_000 {
                loop.requestPerform(target: target, key: key) { log.note("never") }
            }
            #expect(loop.cancelPerformRequests(target: target, key: 19_999) == 1)
            #expect(loop.cancelPerformRequests(target: target) == 19_999)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }
}

private final class Target: Sendable {}

/// A key that uses the loop when it is compared.
private struct MeddlingKey: Hashable {
    let loop: UVRunLoop
    let target: Target

    static func == (left: MeddlingKey, right: MeddlingKey) -> Bool {
        left.loop.requestPerform {}.cancel()
    }

    func hash(into hasher: inout Hasher) {}
}
/// Makes another request when it is released.
private func lastRequest(of loop: UVRunLoop, _ log: EventLog) -> Farewell {
    Farewell { loop.requestPerform { log.note("last word") } }
}
