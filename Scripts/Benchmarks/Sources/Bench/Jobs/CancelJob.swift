import BenchSupport
import CFSupport
import CoreFoundation
import Dispatch
import Foundation
import NIOCore
import RawUV
import UVRunLoop

extension Job {
    /// n timers 60 to 120 s ahead are added, then cancelled in a different scattered order; both
    /// are timed together.
    static func cancel(_ effort: Effort) -> Job {
        Job(
            rows: [Row(name: "timers.cancel", title: "Add a timer and cancel it")],
            sizes: effort.choose(
                [1_000, 10_000, 100_000, 1_000_000],
                quick: [1_000, 10_000, 100_000]
            ),
            sizeName: "timers",
            contenders: [
                Contender(.uvRunLoop) { [ourCancels(FarTimers($0))] },
                Contender(.libuv) { count in
                    let far = FarTimers(count)
                    let time = raw_uv_cancel(far.delays, far.order, CInt(count))
                    return [Double(time) / Double(count)]
                },
                Contender(.cfRunLoop, upTo: 10_000) { [cfCancels(FarTimers($0))] },
                Contender(.nio, upTo: effort.choose(100_000, quick: 10_000)) {
                    [nioCancels(FarTimers($0))]
                },
                Contender(.dispatch, upTo: 10_000) { [dispatchCancels(FarTimers($0))] },
            ]
        )
    }

    /// The same, with libuv's timers each in memory of its own, as a program has them that makes a
    /// time-out for each request.
    static func makeAndCancel(_ effort: Effort) -> Job {
        Job(
            rows: [
                Row(name: "timers.own.make", title: "Make and add a timer in memory of its own"),
                Row(name: "timers.own.cancel", title: "The same, and cancel and free it"),
            ],
            sizes: effort.choose(
                [1_000, 10_000, 100_000, 1_000_000],
                quick: [1_000, 10_000, 100_000]
            ),
            sizeName: "timers",
            contenders: [
                Contender(.uvRunLoop) { ourMadeTimers(FarTimers($0)) },
                Contender(.libuv) { count in
                    let far = FarTimers(count)
                    let times = raw_uv_make_and_close(far.delays, far.order, CInt(count))
                    return [times.make, times.all].map { Double($0) / Double(count) }
                },
            ]
        )
    }
}

private func makeTimers(_ far: FarTimers, _ timers: inout [UVRunLoop.Timer]) {
    let loop = UVRunLoop.current
    let tally = Tally(0) {}
    let origin = SuspendingClock.now
    for delay in far.delays {
        let date = origin.advanced(by: .nanoseconds(delay))
        let timer = UVRunLoop.Timer(at: date) { _ in tally.add() }
        loop.add(timer, forMode: .default)
        timers.append(timer)
    }
}

private func ourMadeTimers(_ far: FarTimers) -> [Double] {
    var timers: [UVRunLoop.Timer] = []
    timers.reserveCapacity(far.count)
    let make = time {
        makeTimers(far, &timers)
    }
    let cancel = time {
        for index in far.order { timers[Int(index)].invalidate() }
        timers = []
    }
    return [make, make + cancel].map { $0 / Double(far.count) }
}

private func ourCancels(_ far: FarTimers) -> Double {
    var timers: [UVRunLoop.Timer] = []
    timers.reserveCapacity(far.count)
    return time {
        makeTimers(far, &timers)
        for index in far.order { timers[Int(index)].invalidate() }
    } / Double(far.count)
}

private func cfCancels(_ far: FarTimers) -> Double {
    let (loop, mode) = (CF.loop, CF.defaultMode)
    let tally = Tally(0) {}
    var timers: [CFRunLoopTimer] = []
    timers.reserveCapacity(far.count)
    return time {
        let origin = CFAbsoluteTimeGetCurrent()
        for delay in far.delays {
            let timer = CF.timer(at: origin + Double(delay) / 1e9) { _ in tally.add() }
            CFRunLoopAddTimer(loop, timer, mode)
            timers.append(timer)
        }
        for index in far.order { CFRunLoopTimerInvalidate(timers[Int(index)]) }
    } / Double(far.count)
}

private func nioCancels(_ far: FarTimers) -> Double {
    NIO.onLoop { loop in
        let tally = Tally(0) {}
        var tasks: [Scheduled<Void>] = []
        tasks.reserveCapacity(far.count)
        return time {
            let origin = NIODeadline.now()
            for delay in far.delays {
                tasks.append(
                    loop.scheduleTask(deadline: origin + .nanoseconds(delay)) { tally.add() }
                )
            }
            for index in far.order { tasks[Int(index)].cancel() }
        } / Double(far.count)
    }
}

private func dispatchCancels(_ far: FarTimers) -> Double {
    let queue = DispatchQueue(label: "bench.cancel")
    let tally = Tally(0) {}
    var timers: [any DispatchSourceTimer] = []
    timers.reserveCapacity(far.count)
    return time {
        let origin = DispatchTime.now()
        for delay in far.delays {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: origin + .nanoseconds(Int(delay)))
            timer.setEventHandler { tally.add() }
            timer.activate()
            timers.append(timer)
        }
        for index in far.order { timers[Int(index)].cancel() }
    } / Double(far.count)
}
