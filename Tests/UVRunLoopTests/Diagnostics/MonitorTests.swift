import Glibc
import Testing

@testable import UVRunLoop

/// Hangs made on purpose, and what a monitor reports.
@Suite(.timeLimit(.minutes(15)), .serialized) struct MonitorTests {
    @Test func aHangInATimerIsReportedOnceWhenItBeginsAndOnceWhenItEnds() throws {
        let reports = try hang { loop, wait in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in wait() }
            timer.label = "poll"
            loop.add(timer)
        }
        #expect(reports.words == ["timer poll began", "timer poll ended"])
        #expect(reports.began?.item?.hasPrefix("Timer \"poll\": firing") == true)
        #expect(reports.began?.loop === reports.loop)
        #expect(try #require(reports.began).duration >= threshold)
        #expect(try #require(reports.ended).duration >= #require(reports.began).duration)
    }

    @Test func theStackOfAHangLeadsThroughTheHandler() throws {
        let reports = try hang { loop, wait in
            loop.add(UVRunLoop.Timer(after: .milliseconds(1)) { _ in wait() })
        }
        let stack = try #require(reports.began).stack
        #expect(stack.count > 5)
        // The thread's first function is the last frame, or one before it.
        #expect(stack.allSatisfy { $0 != 0 })
    }

    @Test func aHangInASourceIsReported() throws {
        let reports = try hang { loop, wait in
            let source = UVRunLoop.Source { _ in wait() }
            source.label = "work"
            loop.add(source)
            source.signal()
        }
        #expect(reports.words == ["source work began", "source work ended"])
    }

    @Test func aHangInASourceThatHasInvalidatedItselfNamesTheSource() throws {
        let reports = try hang { loop, wait in
            let source = UVRunLoop.Source { source in
                source.invalidate()
                wait()
            }
            source.label = "last work"
            loop.add(source)
            source.signal()
            loop.perform {}
        }
        #expect(reports.words == ["source last work began", "source last work ended"])
    }

    @Test func aHangInABlockIsReported() throws {
        let reports = try hang { loop, wait in loop.performLocally { wait() } }
        #expect(reports.words == ["block began", "block ended"])
    }

    @Test func aHangInAPortIsReported() throws {
        let reports = try hang { loop, wait in
            let port = UVRunLoop.Port { _, _ in wait() }
            port.label = "requests"
            loop.add(port)
            _ = port.send(UVRunLoop.PortMessage(components: [.value(1)]), limit: .zero)
        }
        #expect(reports.words == ["port requests began", "port requests ended"])
    }

    @Test func aHangInAnObserverIsReported() throws {
        let reports = try hang { loop, wait in
            let observer = UVRunLoop.Observer(activities: .beforeTimers, repeats: false) { _, _ in
                wait()
            }
            observer.label = "watch"
            loop.add(observer)
            loop.perform {}
        }
        #expect(reports.words == ["observer watch began", "observer watch ended"])
    }

    @Test func aHangInAJobIsReported() throws {
        let reports = try hang { loop, wait in
            let wait = Unchecked(wait)
            Task(executorPreference: loop.taskExecutor) { wait.value() }
        }
        #expect(reports.words == ["job began", "job ended"])
    }

    @Test func aHandlerThatRunsTheLoopIsNoHang() throws {
        try expectNoReports { loop, threshold in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                let keeper = UVRunLoop.Source { _ in }
                loop.add(keeper, forMode: UVRunLoop.Mode("inner"))
                loop.run(mode: UVRunLoop.Mode("inner"), for: threshold * 6)
            }
            loop.add(timer)
            loop.run()
        }
    }

    @Test func aHandlerOfANestedRunHangsItself() throws {
        try expectHang(["timer inner began", "timer inner ended"]) { loop, wait in
            let outer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                let inner = UVRunLoop.Timer(after: .zero) { _ in wait() }
                inner.label = "inner"
                loop.add(inner, forMode: UVRunLoop.Mode("inner"))
                loop.run(mode: UVRunLoop.Mode("inner"), for: .seconds(600))
            }
            outer.label = "outer"
            loop.add(outer)
        }
    }

    @Test func aHandlerThatHangsAfterANestedRunIsReported() throws {
        try expectHang(["timer outer began", "timer outer ended"]) { loop, wait in
            let outer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                loop.perform(inModes: [UVRunLoop.Mode("inner")]) {}
                loop.run(mode: UVRunLoop.Mode("inner"), for: .seconds(600))
                wait()
            }
            outer.label = "outer"
            loop.add(outer)
        }
    }

    @Test func aSleepingLoopIsNoHang() throws {
        try expectNoReports { loop, threshold in
            loop.add(UVRunLoop.Timer(after: threshold * 6) { _ in })
            loop.run()
        }
    }

    @Test func aThreadThatDoesNotRunItsLoopIsNoHang() throws {
        try expectNoReports { loop, threshold in
            let timer = UVRunLoop.Timer(after: .zero, interval: .seconds(600)) { _ in loop.stop() }
            loop.add(timer)
            loop.run()
            letTimePass(threshold * 6)
            timer.fire()
            letTimePass(threshold * 6)
        }
    }

    @Test func aThreadThatHasLeftARunOlderThanTheMonitorIsNoHang() throws {
        let isQuiet = thresholds.contains { leaveARunOlderThanTheMonitor($0) == [] }
        #expect(isQuiet)
    }

    private func leaveARunOlderThanTheMonitor(_ threshold: Duration) -> [String]? {
        let (reports, isReleased) = (SharedBox<Reports?>(nil), SharedBox(false))
        let monitor = SharedBox<UVRunLoop.Monitor?>(nil)
        onAnotherThread {
            let loop = UVRunLoop.current
            reports.value = Reports(of: loop)
            loop.perform {
                monitor.value = try? UVRunLoop.Monitor(threshold: threshold) {
                    reports.value?.note($0)
                }
            }
            let isLastReleased = { [weak last = addTimer(to: loop) { loop.stop() }] in last == nil }
            loop.run()
            isReleased.value = isLastReleased()
            letTimePass(threshold * 6)
            // The run around these passes does not bring the old handler back.
            loop.perform {}
            loop.run(mode: .default, for: .zero)
            letTimePass(threshold * 6)
        }
        monitor.value?.stop()
        #expect(isReleased.value)
        return reports.value?.words
    }

    @Test func aHangEndsWithItsLoop() throws {
        let (began, ended) = (Signal(), Signal())
        let worker = try UVRunLoop.Thread()
        let monitor = try UVRunLoop.Monitor(threshold: threshold) { event in
            switch event {
            case .began(let hang) where hang.loop === worker.runLoop: began.send()
            case .ended(let hang) where hang.loop === worker.runLoop: ended.send()
            default: break
            }
        }
        worker.runLoop.perform {
            began.wait()
            worker.stop(afterQueuedWork: false)
        }
        worker.join()
        ended.wait()
        monitor.stop()
    }

    @Test func everyStopWaitsForTheHandlerThatIsCalled() throws {
        let (isCalled, goOn, isDone) = (Signal(), Signal(), SharedBox(false))
        let hangsOn = Signal()
        let worker = try UVRunLoop.Thread()
        let monitor = try UVRunLoop.Monitor(threshold: threshold) { event in
            guard case .began(let hang) = event, hang.loop === worker.runLoop else { return }
            isCalled.send()
            goOn.wait()
            letTimePass(.milliseconds(20))
            isDone.value = true
        }
        worker.runLoop.perform { hangsOn.wait() }
        isCalled.wait()
        let stops = (0..<3).map { _ in
            startThread {
                monitor.stop()
                #expect(isDone.value)
            }
        }
        letTimePass(threshold * 2)
        goOn.send()
        for stop in stops { stop.join() }
        hangsOn.send()
        worker.stop()
        worker.join()
    }

    @Test func aMonitorThatWasStoppedReportsNothing() throws {
        let words = SharedBox<[String]>([])
        let monitor = try UVRunLoop.Monitor(threshold: threshold) { event in
            words.value.append("\(event)")
        }
        monitor.stop()
        onAnotherThread {
            let loop = UVRunLoop.current
            loop.perform { letTimePass(threshold * 6) }
            loop.run()
        }
        #expect(words.value == [])
    }

    @Test func aMonitorThatWasStoppedReleasesItsHandler() throws {
        let isReleased = SharedBox(false)
        let monitor = try UVRunLoop.Monitor {
            [farewell = Farewell { isReleased.value = true }] _ in
            withExtendedLifetime(farewell) {}
        }
        monitor.stop()
        #expect(isReleased.value)
        withExtendedLifetime(monitor) {}
    }

    @Test func aMonitorCanBeStoppedByItsOwnHandler() throws {
        let monitor = SharedBox<UVRunLoop.Monitor?>(nil)
        let isDone = Signal()
        monitor.value = try UVRunLoop.Monitor(threshold: threshold) { _ in
            monitor.value?.stop()
            isDone.send()
        }
        onAnotherThread {
            let loop = UVRunLoop.current
            loop.perform { isDone.wait() }
            loop.run()
        }
        monitor.value = nil
    }

    @Test func aSignalThatInterruptsTheHandlerDoesItNoHarm() throws {
        let reports = try hang { loop, wait in
            let pipe = Pipe()
            loop.performLocally {
                wait()
                pipe.write("x")
                #expect(pipe.readWaiting() == "x")
            }
        }
        #expect(reports.words.count == 2)
    }
}

/// Adds a timer that fires once, in the next pass, and that only the loop keeps.
private func addTimer(
    to loop: UVRunLoop,
    _ body: @escaping () -> Void
) -> UVRunLoop.Timer {
    let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in body() }
    loop.add(timer)
    return timer
}

private let threshold = Duration.milliseconds(60)
/// A busy machine may hold a handler up for longer than the threshold, which is a hang indeed: then
/// the next one tells.
private let thresholds = [threshold, threshold * 10, threshold * 100]

/// The reports of a monitor about one loop.
private final class Reports: Sendable {
    let loop: UVRunLoop
    private let events = SharedBox<[UVRunLoop.Monitor.Event]>([])
    private let beginning = Signal()

    init(of loop: UVRunLoop) { self.loop = loop }

    /// Takes an event down, unless it is about a loop of another test.
    func note(_ event: UVRunLoop.Monitor.Event) {
        switch event {
        case .began(let hang) where hang.loop === loop:
            events.value.append(event)
            beginning.send()
        case .ended(let hang) where hang.loop === loop: events.value.append(event)
        default: break
        }
    }

    func awaitBeginning() { beginning.wait() }

    var words: [String] {
        events.value.map { event in
            switch event {
            case .began(let hang): "\(hang.kind)\(hang.label.map { " \($0)" } ?? "") began"
            case .ended(let hang): "\(hang.kind)\(hang.label.map { " \($0)" } ?? "") ended"
            }
        }
    }

    var began: UVRunLoop.Hang? {
        for case .began(let hang) in events.value { return hang }
        return nil
    }

    var ended: UVRunLoop.Hang? {
        for case .ended(let hang) in events.value { return hang }
        return nil
    }
}

/// Expects that what a body does with the loop of a new thread is no hang.
private func expectNoReports(
    _ body: @escaping @Sendable (UVRunLoop, Duration) -> Void
) throws {
    var words: [String] = []
    for threshold in thresholds {
        words = try watch(threshold) { loop, _ in body(loop, threshold) }.words
        if words.isEmpty { return }
    }
    #expect(words == [])
}

/// Expects the reports of a hang, as ``hang(_:_:)`` makes it, and no others.
private func expectHang(
    _ expected: [String],
    _ setUp: @escaping @Sendable (UVRunLoop, @escaping () -> Void) -> Void
) throws {
    var words: [String] = []
    for threshold in thresholds {
        words = try hang(threshold, setUp).words
        if words == expected { return }
    }
    #expect(words == expected)
}

/// Monitors what a body does with the loop of a new thread, until the monitor knows the end.
private func watch(
    _ threshold: Duration,
    _ body: @escaping @Sendable (UVRunLoop, Reports) -> Void
) throws -> Reports {
    let current = SharedBox<Reports?>(nil)
    let monitor = try UVRunLoop.Monitor(threshold: threshold) { current.value?.note($0) }
    defer { monitor.stop() }
    let thread = startThread {
        let reports = Reports(of: UVRunLoop.current)
        current.value = reports
        body(UVRunLoop.current, reports)
        awaitEnd(of: reports)
    }
    thread.join()
    guard let reports = current.value else { preconditionFailure("The thread did not begin.") }
    return reports
}

/// Waits, on the loop's own thread, until the monitor has seen that a reported hang is over.
private func awaitEnd(of reports: Reports) {
    guard reports.began != nil else { return }
    while reports.ended == nil { letTimePass(.milliseconds(5)) }
}

/// Runs the loop of a new thread with a handler that hangs until the monitor has reported it.
private func hang(
    _ threshold: Duration = threshold,
    _ setUp: @escaping @Sendable (UVRunLoop, @escaping () -> Void) -> Void
) throws -> Reports {
    try watch(threshold) { loop, reports in
        setUp(loop) {
            reports.awaitBeginning()
            // A second report would come by now.
            letTimePass(threshold * 2)
            loop.stop()
        }
        loop.run()
    }
}
