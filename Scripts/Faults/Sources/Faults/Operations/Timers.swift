import Injection
import UVRunLoop

extension Operation {
    static let timers = [
        Operation("timer.fine") { scene in
            try runTimers(scene, [.microseconds(300), .microseconds(700)], tolerance: .zero)
        },
        Operation("timer.coarse") { scene in
            try runTimers(scene, [.milliseconds(1), .milliseconds(3)], tolerance: .milliseconds(4))
        },
        Operation("timer.repeating") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let begin = UVRunLoop.Instant.now
            let interval = Duration.microseconds(400)
            var passed = 0
            var isEarly = false
            let timer = UVRunLoop.Timer(after: interval, interval: interval) { timer in
                passed += 1 + timer.missedFires
                isEarly = isEarly || UVRunLoop.Instant.now < begin + interval * passed
                if passed >= 4 { loop.stop() }
            }
            defer { timer.invalidate() }
            loop.add(timer, forMode: .default)
            scene.run(loop)
            try scene.require(!isEarly, "a timer fired early")
            try scene.expect(passed >= 4, "a timer's fires: \(passed) of 4")
        },
        Operation("timer.from-outside") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            defer { keeper.invalidate() }
            let far = UVRunLoop.Timer(after: .seconds(3600), sendableHandler: { _ in loop.stop() })
            loop.add(far, forMode: .default)
            defer { far.invalidate() }
            let sender = PlainThread {
                _ = scene.awaits { loop.isWaiting }
                far.nextFireDate = .now + .microseconds(500)
            }
            let result = loop.run(for: scene.limit)
            sender.join()
            try scene.expect(result == .stopped, "the timer that another thread brought forward")
        },
        Operation("timer.nowhere") { scene in
            let timer = UVRunLoop.Timer(after: .zero, interval: .seconds(1)) { _ in }
            timer.nextFireDate = .now + .seconds(5)
            try scene.require(timer.nextFireDate > .now, "a date that was set is not there")
            timer.invalidate()
            try scene.require(!timer.isValid, "an invalid timer says that it is valid")
        },
    ]
}

/// Runs one-shot timers until the last has fired.
private func runTimers(_ scene: Scene, _ delays: [Duration], tolerance: Duration) throws {
    let loop = try UVRunLoop.prepareCurrent()
    var fired = 0
    var isEarly = false
    var timers: [UVRunLoop.Timer] = []
    defer { timers.forEach { $0.invalidate() } }
    for delay in delays {
        let date = UVRunLoop.Instant.now + delay
        let timer = UVRunLoop.Timer(at: date, tolerance: tolerance) { _ in
            isEarly = isEarly || UVRunLoop.Instant.now < date
            fired += 1
            if fired == delays.count { loop.stop() }
        }
        timers.append(timer)
        loop.add(timer, forMode: .default)
    }
    scene.run(loop)
    try scene.require(!isEarly, "a timer fired early")
    try scene.expect(fired == delays.count, "\(delays.count - fired) timers")
}
