import BenchSupport
import CFSupport
import CoreFoundation
import Foundation
import NIOCore
import RawUV
import UVRunLoop

extension Job {
    /// n one-shot timers at dates scattered over 50 ms are added; the thread sleeps until all are
    /// due; a run fires them all.
    static func timers(_ effort: Effort) -> Job {
        Job(
            rows: [
                Row(name: "timers.insert", title: "Make and add a timer"),
                Row(name: "timers.fire", title: "Fire a due timer"),
            ],
            sizes: effort.choose(
                [1_000, 10_000, 100_000, 1_000_000],
                quick: [1_000, 10_000, 100_000]
            ),
            sizeName: "timers",
            contenders: [
                Contender(.uvRunLoop) { ourTimers(DueTimers($0)) },
                Contender(.libuv) { libuvTimers(DueTimers($0)) },
                Contender(.cfRunLoop, upTo: 10_000) { cfTimers(DueTimers($0)) },
                Contender(.nio) { nioTimers(DueTimers($0)) },
            ]
        )
    }
}

/// When the timers are due, in nanoseconds from the start.
private struct DueTimers: Sendable {
    let delays: [Int64]
    /// When all are due, also those that libuv has rounded up to its next millisecond.
    let last: Int64

    /// Begins the 50 ms so late that no date is past before its timer is in.
    init(_ count: Int) {
        let first = Int64(count) * 500
        last = first + 50_000_000 + 2_000_000
        delays = Scatter.delays(count, in: first..<first + 50_000_000, seed: 1)
    }

    var count: Int { delays.count }

    /// Nanoseconds per timer.
    func samples(insert: Double, fire: Double) -> [Double] {
        [insert / Double(count), fire / Double(count)]
    }
}

private func ourTimers(_ due: DueTimers) -> [Double] {
    let loop = UVRunLoop.current
    let tally = Tally(due.count) { loop.stop() }
    let start = now()
    let insert = time {
        let origin = SuspendingClock.now
        for delay in due.delays {
            let date = origin.advanced(by: .nanoseconds(delay))
            loop.add(UVRunLoop.Timer(at: date) { _ in tally.add() }, forMode: .default)
        }
    }
    sleep(until: start + due.last)
    return due.samples(insert: insert, fire: time { loop.run() })
}

private func libuvTimers(_ due: DueTimers) -> [Double] {
    let times = raw_uv_timers(due.delays, CInt(due.count), due.last)
    return due.samples(insert: Double(times.insert), fire: Double(times.fire))
}

private func cfTimers(_ due: DueTimers) -> [Double] {
    let (loop, mode) = (CF.loop, CF.defaultMode)
    let tally = Tally(due.count) { CFRunLoopStop(loop) }
    let start = now()
    let insert = time {
        let origin = CFAbsoluteTimeGetCurrent()
        for delay in due.delays {
            let timer = CF.timer(at: origin + Double(delay) / 1e9) { _ in tally.add() }
            CFRunLoopAddTimer(loop, timer, mode)
        }
    }
    sleep(until: start + due.last)
    return due.samples(insert: insert, fire: time { while tally.left > 0 { CFRunLoopRun() } })
}

private func nioTimers(_ due: DueTimers) -> [Double] {
    let isDone = Latch()
    // All three are written on the loop's thread, which also sleeps: nothing fires meanwhile.
    final class Times: @unchecked Sendable {
        var insert = 0.0
        var fireStart: Int64 = 0
        var fireEnd: Int64 = 0
    }
    let times = Times()
    let tally = Tally(due.count) {
        times.fireEnd = now()
        isDone.open()
    }
    NIO.loop.execute {
        let loop = NIO.loop
        let start = now()
        times.insert = time {
            let origin = NIODeadline.now()
            for delay in due.delays {
                loop.scheduleTask(deadline: origin + .nanoseconds(delay)) { tally.add() }
            }
        }
        sleep(until: start + due.last)
        times.fireStart = now()
    }
    isDone.wait()
    return due.samples(insert: times.insert, fire: Double(times.fireEnd - times.fireStart))
}
