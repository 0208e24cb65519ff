import Glibc
import TestSupport
import Testing

@testable import UVRunLoop

/// What tracers are told of calls that are short, that are not made, or that are made by hand.
@Suite(.timeLimit(.minutes(15)), .serialized) struct TracingTests {
    @Test func eachCallOfAPortIsTold() {
        let calls = Counter()
        let told = callouts { loop in
            let port = UVRunLoop.Port { port, _ in
                if calls.add() == 2_000 { port.invalidate() }
            }
            for number in 0..<1_000 { _ = port.send(message(number), limit: .zero) }
            loop.add(port)
            let sender = startThread {
                for number in 1_000..<2_000 { _ = port.send(message(number)) }
            }
            loop.run()
            sender.join()
        }
        #expect(calls.value == 2_000)
        #expect(told.count { $0.kind == .port } == 2_000)
    }

    @Test func aPortWhoseMessagesWaitForATaskIsNotTold() {
        let told = callouts { loop in
            let port = UVRunLoop.Port()
            _ = port.send(message(1), limit: .zero)
            loop.add(port)
            loop.run(mode: .default, for: .milliseconds(2))
            withExtendedLifetime(port.messages) {}
        }
        #expect(told.isEmpty)
    }

    @Test func anObserverThatIsNotCalledIsNotTold() {
        let calls = Counter()
        let told = callouts { loop in
            let second = UVRunLoop.Observer(activities: .beforeTimers, order: 1) { _, _ in
                calls.add()
            }
            let first = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
                calls.add()
                second.invalidate()
                for _ in 0..<10 { loop.run(mode: .default, for: .zero) }
                loop.stop()
            }
            loop.add(first)
            loop.add(second)
            loop.perform {}
            loop.run()
        }
        #expect(calls.value == 1)
        #expect(told.count { $0.kind == .observer } == 1)
    }

    @Test func aCallByHandIsForNoDate() {
        let told = callouts { loop in
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(10)) { _ in }
            let end = UVRunLoop.Timer(after: .zero) { _ in
                for _ in 0..<3 { timer.fire() }
                loop.stop()
            }
            timer.label = "timer"
            loop.add(timer)
            loop.add(end)
            letTimePass(.milliseconds(55))
            loop.run()
            timer.fire()
        }
        let calls = told.filter { $0.label == "timer" }
        #expect(calls.count == 5)
        #expect(calls.first.map { $0.missed >= 5 && $0.lateness != nil } == true)
        #expect(calls.dropFirst().allSatisfy { $0.missed == 0 && $0.lateness == nil })
    }

    @Test func aHandlerThatCallsTimersByHandMayHang() {
        let began = hangs { loop, callByHand in
            loop.performLocally {
                callByHand()
                loop.stop()
            }
        }
        #expect(began == ["block"])
    }

    @Test func aTimerThatCallsOthersByHandIsTheOneThatHangs() {
        let began = hangs { loop, callByHand in
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                callByHand()
                loop.stop()
            }
            timer.label = "outer"
            loop.add(timer)
        }
        #expect(began == ["timer outer"])
    }

    @Test func noBlocksAreNotTold() {
        let counts = events { loop in
            loop.perform(inModes: [UVRunLoop.Mode("aside")]) {}
            loop.add(UVRunLoop.Timer(after: .milliseconds(5)) { _ in })
            loop.run()
        }.compactMap { event -> Int? in
            if case .tookBlocks(let count) = event { count } else { nil }
        }
        #expect(!counts.contains(0))
    }

    /// Not of a mode that was emptied, nor of one that has run.
    @Test func aRunIsToldOfThatEndsAtOnceInAModeToWhichNothingWasAdded() {
        let common = UVRunLoop.Mode("made common")
        let (emptied, left) = (UVRunLoop.Mode("emptied"), UVRunLoop.Mode("left"))
        let told = events { loop in
            func runAll() {
                for mode in [.default, common, emptied, left] { loop.run(mode: mode, for: .zero) }
            }
            loop.addCommonMode(common)
            let source = UVRunLoop.Source { _ in }
            loop.add(source, forMode: emptied)
            source.invalidate()
            let timer = UVRunLoop.Timer(after: .seconds(1)) { _ in }
            loop.add(timer, forMode: left)
            loop.remove(timer, forMode: left)
            runAll()
            loop.perform {}
            runAll()
            runAll()
        }
        let modes = told.compactMap { event -> UVRunLoop.Mode? in
            if case .modeIsUnused(let mode, _) = event { mode } else { nil }
        }
        #expect(modes == [.default, common, common, common])
    }

    /// Whether there are other tracers at the moment or not.
    @Test func aTracerOfMistakesIsToldOfNothingElse() {
        let told = events(EventTracer(tracesWork: false)) { loop in
            loop.perform {}
            loop.run()
            loop.add(UVRunLoop.Timer(after: .milliseconds(1)) { _ in })
            loop.run()
            loop.run(mode: UVRunLoop.Mode("of mistakes"), for: .zero)
        }
        #expect(told.count == 1)
        #expect(told.contains { if case .modeIsUnused = $0 { true } else { false } })
    }

    @Test func workIsTracedAsLongAsATracerAsksForIt() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let (ofWork, ofMistakes) = (EventTracer(), EventTracer(tracesWork: false))
                LoopTracing.add(ofMistakes)
                precondition(!LoopTracing.isOn && LoopTracing.hasTracers)
                LoopTracing.add(ofWork)
                precondition(LoopTracing.isOn)
                LoopTracing.remove(ofWork)
                precondition(!LoopTracing.isOn && LoopTracing.hasTracers)
                LoopTracing.remove(ofMistakes)
                precondition(!LoopTracing.hasTracers)
            }
        }
    }

    @Test func aForkedChildHasTracersOfItsOwn() async {
        await #expect(processExitsWith: .success) {
            LoopTracing.add(EventTracer())
            inQuietProcess {
                let (loop, tracer) = (UVRunLoop.current, EventTracer())
                loop.run(mode: UVRunLoop.Mode("of nothing"), for: .zero)
                LoopTracing.add(tracer)
                loop.perform {}
                loop.run()
                precondition(!tracer.events.value.isEmpty, "The child's tracer was told nothing.")
            }
        }
    }
}

private func message(_ number: Int) -> UVRunLoop.PortMessage {
    UVRunLoop.PortMessage(components: [.value(number)])
}

/// The hangs in a loop of which one handler calls a timer by hand for long, without their stacks.
///
/// - Parameter setUp: Adds the handler, which is to call the function that it gets.
/// - Returns: The kinds and labels of the handlers that hang.
private func hangs(
    _ setUp: @escaping @Sendable (UVRunLoop, _ callByHand: @escaping () -> Void) -> Void
) -> [String] {
    let began = SharedBox<[String]>([])
    onAnotherThread {
        let loop = UVRunLoop.current
        let threshold = Duration.milliseconds(100)
        let monitor = try? UVRunLoop.Monitor(threshold: threshold, capturesStacks: false) { event in
            guard case .began(let hang) = event, hang.loop === loop else { return }
            began.value.append(
                ["\(hang.kind)", hang.label].compactMap(\.self).joined(separator: " ")
            )
        }
        let timer = UVRunLoop.Timer(after: .seconds(1_000), interval: .seconds(1_000)) { _ in
            letTimePass(.milliseconds(2))
        }
        timer.label = "inner"
        loop.add(timer)
        setUp(loop) {
            let limit = monotonicNow() + 60_000_000_000
            while began.value.isEmpty, monotonicNow() < limit { timer.fire() }
            // It is one hang, whatever is called.
            let goesOn = monotonicNow() + 300_000_000
            while monotonicNow() < goesOn { timer.fire() }
        }
        loop.run()
        monitor?.stop()
    }
    return began.value
}

/// The events of the loop of one thread.
private final class EventTracer: LoopTracer, LoopTrack {
    let events = SharedBox<[LoopEvent]>([])
    let tracesWork: Bool
    private let thread = SharedBox<ThreadIdentity?>(nil)

    init(tracesWork: Bool = true) { self.tracesWork = tracesWork }

    /// Traces the calling thread only, from now on.
    func begin() {
        thread.value = .current
        LoopTracing.add(self)
    }

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? {
        thread.value == nil || thread.value == .current ? self : nil
    }

    func record(_ event: LoopEvent) { events.value.append(event) }
}

/// What a tracer is told while a body uses the loop of a new thread.
private func events(
    _ tracer: EventTracer = EventTracer(),
    _ body: @escaping @Sendable (UVRunLoop) -> Void
) -> [LoopEvent] {
    onAnotherThread {
        tracer.begin()
        body(UVRunLoop.current)
    }
    LoopTracing.remove(tracer)
    return tracer.events.value
}

/// A call of a handler that a tracer was told of.
private struct Told {
    let kind: UVRunLoop.HandlerKind
    let label: String?
    let lateness: Int64?
    let missed: Int
}

private func callouts(_ body: @escaping @Sendable (UVRunLoop) -> Void) -> [Told] {
    events(EventTracer(), body).compactMap { event in
        guard case .called(let call, _, _) = event else { return nil }
        return Told(
            kind: call.kind,
            label: call.label,
            lateness: call.lateness,
            missed: call.missed
        )
    }
}
