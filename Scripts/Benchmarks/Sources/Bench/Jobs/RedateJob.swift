import BenchSupport
import CFSupport
import CoreFoundation
import Dispatch
import Foundation
import NIOCore
import RawUV
import UVRunLoop

extension Job {
    /// n timers that are 60 to 120 s ahead get other such dates, in a scattered order.
    ///
    /// SwiftNIO has no other way than to cancel a timer and make a new one.
    static func redate(_ effort: Effort) -> Job {
        Job(
            rows: [Row(name: "timers.redate", title: "Give a timer another date")],
            sizes: effort.choose(
                [1_000, 10_000, 100_000, 1_000_000],
                quick: [1_000, 10_000, 100_000]
            ),
            sizeName: "timers",
            contenders: [
                Contender(.uvRunLoop) { [ourRedates(FarTimers($0))] },
                Contender(.libuv) { count in
                    let far = FarTimers(count)
                    let time = raw_uv_redate(far.delays, far.otherDelays, far.order, CInt(count))
                    return [Double(time) / Double(count)]
                },
                Contender(.cfRunLoop, upTo: 10_000) { count in
                    [onOwnThread { cfRedates(FarTimers(count)) }]
                },
                Contender(.nio, upTo: 10_000) { [nioRedates(FarTimers($0))] },
                Contender(.dispatch, upTo: 10_000) { [dispatchRedates(FarTimers($0))] },
            ]
        )
    }
}

private func ourRedates(_ far: FarTimers) -> Double {
    let loop = UVRunLoop.current
    let tally = Tally(0) {}
    let origin = SuspendingClock.now
    let timers = far.delays.map { delay in
        let date = origin.advanced(by: .nanoseconds(delay))
        return UVRunLoop.Timer(at: date) { _ in tally.add() }
    }
    for timer in timers { loop.add(timer, forMode: .default) }
    defer { for timer in timers { timer.invalidate() } }
    return time {
        for index in far.order {
            let delay = far.otherDelays[Int(index)]
            timers[Int(index)].nextFireDate = origin.advanced(by: .nanoseconds(delay))
        }
    } / Double(far.count)
}

/// Leaves the timers to the end of its thread: to invalidate them one by one takes long.
private func cfRedates(_ far: FarTimers) -> Double {
    let (loop, mode) = (CF.loop, CF.defaultMode)
    let tally = Tally(0) {}
    let origin = CFAbsoluteTimeGetCurrent()
    let timers = far.delays.map { delay in
        CF.timer(at: origin + Double(delay) / 1e9) { _ in tally.add() }
    }
    for timer in timers { CFRunLoopAddTimer(loop, timer, mode) }
    return time {
        for index in far.order {
            let delay = far.otherDelays[Int(index)]
            CFRunLoopTimerSetNextFireDate(timers[Int(index)], origin + Double(delay) / 1e9)
        }
    } / Double(far.count)
}

private func nioRedates(_ far: FarTimers) -> Double {
    NIO.onLoop { loop in
        let tally = Tally(0) {}
        let origin = NIODeadline.now()
        var tasks = far.delays.map { delay in
            loop.scheduleTask(deadline: origin + .nanoseconds(delay)) { tally.add() }
        }
        let taken = time {
            for index in far.order {
                tasks[Int(index)].cancel()
                let deadline = origin + .nanoseconds(far.otherDelays[Int(index)])
                tasks[Int(index)] = loop.scheduleTask(deadline: deadline) { tally.add() }
            }
        }
        for task in tasks { task.cancel() }
        return taken / Double(far.count)
    }
}

private func dispatchRedates(_ far: FarTimers) -> Double {
    let queue = DispatchQueue(label: "bench.redate")
    let tally = Tally(0) {}
    let origin = DispatchTime.now()
    let timers = far.delays.map { delay in
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: origin + .nanoseconds(Int(delay)))
        timer.setEventHandler { tally.add() }
        timer.activate()
        return timer
    }
    defer { for timer in timers { timer.cancel() } }
    return time {
        for index in far.order {
            let delay = far.otherDelays[Int(index)]
            timers[Int(index)].schedule(deadline: origin + .nanoseconds(Int(delay)))
        }
    } / Double(far.count)
}
