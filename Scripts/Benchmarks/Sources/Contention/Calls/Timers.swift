import CFSupport
import CoreFoundation
import UVRunLoop

extension Call {
    /// The calls that ask for or change a timer's date.
    static var timers: [Call] {
        [
            Call("nextFireDate, timer in a loop") { _ in
                withLoop { loop, timer in { _, _ in use(timer.nextFireDate) } }
            },
            .peer("nextFireDate, timer in a loop") { _ in
                withCFLoop { _, timer in { _, _ in use(CFRunLoopTimerGetNextFireDate(timer)) } }
            },
            Call("nextFireDate(forMode:)") { _ in
                withLoop { loop, _ in { _, _ in use(loop.nextFireDate(forMode: .default)) } }
            },
            .peer("nextFireDate(forMode:)") { _ in
                withCFLoop { loop, _ in
                    { _, _ in use(CFRunLoopGetNextTimerFireDate(loop, CF.defaultMode)) }
                }
            },
            Call("nextFireDate =, one timer in no loop") { _ in
                let timer = farTimer()
                let dates = Dates()
                return Workload { _, number in timer.nextFireDate = dates[number] }
            },
            Call("nextFireDate =, own timers in no loop") { threads in
                let timers = (0..<threads).map { _ in farTimer() }
                let dates = Dates()
                return Workload { thread, number in timers[thread].nextFireDate = dates[number] }
            },
            Call("nextFireDate =, one timer in a loop") { _ in
                let dates = Dates()
                return withLoop { _, timer in
                    { _, number in timer.nextFireDate = dates[number] }
                }
            },
            .peer("nextFireDate =, one timer in a loop") { _ in
                let dates = CFDates()
                return withCFLoop { _, timer in
                    { _, number in CFRunLoopTimerSetNextFireDate(timer, dates[number]) }
                }
            },
        ]
    }

    fileprivate static func farTimer() -> UVRunLoop.Timer {
        UVRunLoop.Timer(after: .seconds(3_600), sendableHandler: { _ in })
    }

    /// One loop that runs and one far timer in it.
    private static func withLoop(
        _ call: (UVRunLoop, UVRunLoop.Timer) -> @Sendable (Int, Int) -> Void
    ) -> Workload {
        let served = ServedLoop()
        let timer = farTimer()
        served.loop.add(timer, forMode: .default)
        return Workload(call: call(served.loop, timer), cleanUp: served.end)
    }

    private static func withCFLoop(
        _ call: (CFRunLoop, CFRunLoopTimer) -> @Sendable (Int, Int) -> Void
    ) -> Workload {
        let served = ServedCFLoop()
        let timer = CF.farTimer()
        CFRunLoopAddTimer(served.loop, timer, CF.defaultMode)
        return Workload(call: call(served.loop, timer), cleanUp: served.end)
    }

    // MARK: Making, adding, invalidating

    /// The calls that make timers and do away with them.
    static var timerLifetimes: [Call] {
        [
            Call("make, add and invalidate a timer") { _ in
                let served = ServedLoop()
                let loop = served.loop
                return Workload(
                    call: { _, _ in
                        let timer = farTimer()
                        loop.add(timer, forMode: .default)
                        timer.invalidate()
                    },
                    cleanUp: served.end
                )
            },
            .peer("make, add and invalidate a timer") { _ in
                let served = ServedCFLoop()
                return Workload(
                    call: { _, _ in
                        let timer = CF.farTimer()
                        CFRunLoopAddTimer(served.loop, timer, CF.defaultMode)
                        CFRunLoopTimerInvalidate(timer)
                    },
                    cleanUp: served.end
                )
            },
            invalidate,
            cfInvalidate,
            Call("invalidate() once more") { _ in
                let timer = farTimer()
                timer.invalidate()
                return Workload { _, _ in timer.invalidate() }
            },
        ]
    }

    /// How many timers each thread invalidates.
    private static let share = 4_000

    private static var invalidate: Call {
        Call("invalidate(), timers in one loop") { threads in
            let served = ServedLoop()
            let timers = (0..<threads).map { _ in (0..<share).map { _ in farTimer() } }
            for timer in timers.joined() { served.loop.add(timer, forMode: .default) }
            return Workload(
                call: { thread, number in timers[thread][number].invalidate() },
                most: share,
                finish: served.drain,
                cleanUp: served.end
            )
        }
    }

    private static var cfInvalidate: Call {
        .peer("invalidate(), timers in one loop") { threads in
            let served = ServedCFLoop()
            let timers = (0..<threads).map { _ in (0..<share).map { _ in CF.farTimer() } }
            for timer in timers.joined() {
                CFRunLoopAddTimer(served.loop, timer, CF.defaultMode)
            }
            return Workload(
                call: { thread, number in
                    CFRunLoopTimerInvalidate(timers[thread][number])
                },
                most: share,
                finish: served.drain,
                cleanUp: served.end
            )
        }
    }
}

/// Dates that are one to two minutes ahead, in a scattered order.
private struct Dates: Sendable {
    private let dates: [UVRunLoop.Instant]

    init() {
        let start = SuspendingClock().now
        dates = (0..<4_096).map { start + .milliseconds(60_000 + $0 * 7_919 % 60_000) }
    }

    subscript(number: Int) -> UVRunLoop.Instant { dates[number & 4_095] }
}

/// The same as CFRunLoop has them.
private struct CFDates: Sendable {
    private let dates: [Double]

    init() {
        let start = CFAbsoluteTimeGetCurrent()
        dates = (0..<4_096).map { start + 60 + Double($0 * 7_919 % 60_000) / 1_000 }
    }

    subscript(number: Int) -> Double { dates[number & 4_095] }
}
