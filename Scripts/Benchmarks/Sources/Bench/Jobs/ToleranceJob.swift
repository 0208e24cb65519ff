import BenchSupport
import CFSupport
import CoreFoundation
import Foundation
import RawUV
import Results
import UVRunLoop

extension Job {
    /// 1,000 timers that repeat every 100 ms, at scattered phases, each of which may be 10 ms late.
    ///
    /// Only loops that tell when they wake up can be counted; libuv knows no tolerance, and its
    /// dates are whole milliseconds.
    static func tolerance(_ effort: Effort) -> Job {
        let crowd = RepeatingTimers(duration: effort.choose(2, quick: 1))
        return Job(
            rows: [
                Row(
                    name: "tolerance",
                    title: "Wake-ups for 1,000 timers of 100 ms with a tolerance of 10 ms",
                    unit: .wakeUpsPerSecond
                )
            ],
            warmsUp: false,
            rounds: effort.choose(3, quick: 1),
            contenders: [
                Contender(.uvRunLoop) { _ in [onOwnThread { ourWakeUps(crowd) }] },
                Contender(.libuv) { _ in [libuvWakeUps(crowd)] },
                Contender(.cfRunLoop) { _ in [onOwnThread { cfWakeUps(crowd) }] },
            ]
        )
    }
}

private struct RepeatingTimers: Sendable {
    let interval: Int64 = 100_000_000
    let tolerance: Int64 = 10_000_000
    let delays: [Int64]
    let duration: Int

    init(duration: Int) {
        self.duration = duration
        delays = Scatter.delays(1_000, in: 0..<interval, seed: 6)
    }
}

private func ourWakeUps(_ crowd: RepeatingTimers) -> Double {
    let loop = UVRunLoop.current
    for delay in crowd.delays {
        let timer = UVRunLoop.Timer(
            after: .nanoseconds(delay),
            interval: .nanoseconds(crowd.interval),
            tolerance: .nanoseconds(crowd.tolerance)
        ) { _ in }
        loop.add(timer, forMode: .default)
    }
    var count = 0
    let observer = UVRunLoop.Observer(activities: .afterWaiting) { _, _ in count += 1 }
    loop.add(observer, forMode: .default)
    loop.run(mode: .default, for: .seconds(crowd.duration))
    return Double(count) / Double(crowd.duration)
}

private func libuvWakeUps(_ crowd: RepeatingTimers) -> Double {
    let count = raw_uv_wake_ups(
        crowd.delays,
        CInt(crowd.delays.count),
        crowd.interval,
        Int64(crowd.duration) * 1_000_000_000
    )
    return Double(count) / Double(crowd.duration)
}

private func cfWakeUps(_ crowd: RepeatingTimers) -> Double {
    let (loop, mode) = (CF.loop, CF.defaultMode)
    for delay in crowd.delays {
        let timer = CF.timer(after: delay, interval: crowd.interval) { _ in }
        CFRunLoopTimerSetTolerance(timer, Double(crowd.tolerance) / 1e9)
        CFRunLoopAddTimer(loop, timer, mode)
    }
    var count = 0
    let activity = CFRunLoopActivity.afterWaiting.rawValue
    let observer = CFRunLoopObserverCreateWithHandler(nil, activity, true, 0) { _, _ in count += 1 }
    CFRunLoopAddObserver(loop, observer, mode)
    CFRunLoopRunInMode(mode, Double(crowd.duration), false)
    return Double(count) / Double(crowd.duration)
}
