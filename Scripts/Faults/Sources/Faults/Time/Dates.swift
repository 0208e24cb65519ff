import Injection
import UVRunLoop

extension Corner {
    private static let century = Duration.seconds(100 * 365 * 86_400)
    /// A distance that 64 bits cannot hold as nanoseconds comes with the last of them.
    private static let distances: [Duration] = [
        century, .nanoseconds(Int64.max), .seconds(Int64.max / 2_000_000_000), .seconds(Int64.max),
    ]

    static let dates = [
        Corner("dates that never come") { _ in
            for distance in distances {
                child_note_step("\(distance)")
                try waitBeside(distance)
                try stopRun(of: distance)
                try repeatEvery(distance)
                try sendWithin(distance)
            }
        },
        Corner("dates long past") { _ in
            let loop = UVRunLoop.current
            var fired = 0
            for distance in distances {
                let timer = UVRunLoop.Timer(after: .zero - distance) { _ in fired += 1 }
                loop.add(timer, forMode: .default)
                loop.run(for: .zero - distance)
            }
            if fired != distances.count { throw Missing(what: "\(distances.count - fired) timers") }
        },
    ]

    /// A far date keeps a loop waiting, neither spinning nor longer than its limit.
    private static func waitBeside(_ distance: Duration) throws {
        let loop = UVRunLoop.current
        let far = UVRunLoop.Timer(after: distance, tolerance: distance) { _ in }
        loop.add(far, forMode: .default)
        defer { far.invalidate() }
        var fired = 0
        let near = UVRunLoop.Timer(after: .milliseconds(2)) { _ in fired += 1 }
        loop.add(near, forMode: .default)
        fault_begin_counting()
        let result = loop.run(for: .milliseconds(10))
        fault_end()
        if result != .timedOut || fired != 1 {
            throw Wrong(what: "\(result), fired \(fired) times")
        }
        if fault_calls_together() > 200 {
            throw Wrong(what: "\(fault_calls_together()) calls in a run of 10 ms")
        }
        if far.nextFireDate < .now + min(distance, century) - .seconds(60) {
            throw Wrong(what: "a far date has come near: \(far.nextFireDate)")
        }
    }

    /// A run with a far limit ends when it is stopped.
    private static func stopRun(of distance: Duration) throws {
        let loop = UVRunLoop.current
        let keeper = UVRunLoop.Source { _ in }
        loop.add(keeper, forMode: .default)
        defer { keeper.invalidate() }
        let other = PlainThread {
            while !loop.isWaiting { work_sleep(100) }
            loop.perform { loop.stop() }
        }
        let result = loop.run(for: distance)
        other.join()
        if result != .stopped { throw Wrong(what: "a run that was stopped is \(result)") }
    }

    /// A timer with a far interval fires once.
    private static func repeatEvery(_ interval: Duration) throws {
        let loop = UVRunLoop.current
        var fired = 0
        let timer = UVRunLoop.Timer(after: .zero, interval: interval) { _ in fired += 1 }
        loop.add(timer, forMode: .default)
        defer { timer.invalidate() }
        loop.run(for: .milliseconds(3))
        timer.nextFireDate = .now + .milliseconds(1)
        loop.run(for: .milliseconds(5))
        if fired != 2 { throw Wrong(what: "a timer fired \(fired) times instead of twice") }
    }

    /// Waits with far limits end when what they wait for is there.
    private static func sendWithin(_ limit: Duration) throws {
        let loop = UVRunLoop.current
        var count = 0
        let port = UVRunLoop.Port(capacity: 1) { _, _ in
            count += 1
            if count == 4 { loop.stop() }
        }
        loop.add(port, forMode: .default)
        defer { port.invalidate() }
        let request = loop.requestPerform(after: limit) {}
        defer { request.cancel() }
        let sender = PlainThread {
            for id in 0..<4 { _ = port.send(UVRunLoop.PortMessage(id: Int32(id)), limit: limit) }
        }
        loop.run(for: .seconds(20))
        sender.join()
        if count != 4 { throw Missing(what: "\(4 - count) messages") }
    }
}
