import MetricsTestKit
import Testing
import UVRunLoop
import UVRunLoopMetrics

/// The values that loops report to swift-metrics.
@Suite(.timeLimit(.minutes(15))) struct MetricsTests {
    @Test func passesSleepsHandlersAndQueuesAreReported() throws {
        let backend = TestMetrics()
        let metrics = UVRunLoop.Metrics(factory: backend)
        let loop = try work(on: "measured")
        metrics.stop()
        #expect(try backend.expectCounter("uvrunloop.passes", loop).totalValue > 0)
        #expect(try !backend.expectTimer("uvrunloop.sleep", loop).values.isEmpty)
        #expect(try backend.expectTimer("uvrunloop.timer.lateness", loop).values.count == 3)
        let timers = try backend.expectTimer("uvrunloop.handler", loop + [("kind", "timer")])
        #expect(timers.values.count == 3)
        let blocks = try backend.expectTimer("uvrunloop.handler", loop + [("kind", "block")])
        #expect(blocks.values.count == 2)
        #expect(try backend.expectRecorder("uvrunloop.queue.blocks", loop).values == [2])
    }

    @Test func missedDatesAreCounted() throws {
        let backend = TestMetrics()
        let metrics = UVRunLoop.Metrics(prefix: "loops", factory: backend)
        let thread = try UVRunLoop.Thread(name: "late")
        let lateFires = Count()
        let end = UVRunLoop.Instant.now + .milliseconds(40)
        let timer = UVRunLoop.Timer(
            after: .zero,
            interval: .milliseconds(2),
            sendableHandler: { timer in
                if timer.missedFires > 0 { lateFires.add() }
                while UVRunLoop.Instant.now < end {}
            }
        )
        thread.runLoop.add(timer)
        lateFires.wait()
        timer.invalidate()
        thread.stop()
        thread.join()
        metrics.stop()
        let misses = try backend.expectCounter("loops.timer.misses", [("loop", "late")])
        #expect(misses.totalValue > 0)
    }

    @Test func nothingIsReportedAfterTheEnd() throws {
        let backend = TestMetrics()
        let metrics = UVRunLoop.Metrics(factory: backend)
        metrics.stop()
        let loop = try work(on: "not measured")
        #expect(throws: (any Error).self) {
            try backend.expectCounter("uvrunloop.passes", loop)
        }
    }
}

/// Fires a timer three times and runs two blocks on a thread; returns the dimension of its loop.
private func work(on name: String) throws -> [(String, String)] {
    let thread = try UVRunLoop.Thread(name: name) {
        let loop = UVRunLoop.current
        loop.perform {}
        loop.perform {}
    }
    let fires = Count()
    let timer = UVRunLoop.Timer(
        after: .milliseconds(2),
        interval: .milliseconds(2),
        sendableHandler: { timer in
            if fires.value == 2 { timer.invalidate() }
            fires.add()
        }
    )
    thread.runLoop.add(timer)
    fires.wait(for: 3)
    thread.stop()
    thread.join()
    return [("loop", name)]
}
