import BenchSupport
import CFSupport
import CoreFoundation
import Dispatch
import Foundation
import NIOCore
import NIOPosix
import RawUV
import Results
import UVRunLoop

extension Job {
    /// The memory that malloc gives for a scheduled timer, handler included, while 100,000 wait.
    static func memory(_ effort: Effort) -> Job {
        let count = 100_000
        return Job(
            rows: [
                Row(
                    name: "timers.memory",
                    title: "Memory of a scheduled timer, handler included",
                    unit: .bytes
                )
            ],
            warmsUp: false,
            rounds: effort.choose(3, quick: 1),
            contenders: [
                Contender(.uvRunLoop) { _ in [onOwnThread { ourBytes(FarTimers(count)) }] },
                Contender(.libuv) { _ in
                    [
                        Double(raw_uv_timer_bytes(FarTimers(count).delays, CInt(count)))
                            / Double(count)
                    ]
                },
                Contender(.cfRunLoop) { _ in [onOwnThread { cfBytes(FarTimers(count)) }] },
                Contender(.nio) { _ in [nioBytes(FarTimers(count))] },
                Contender(.dispatch) { _ in [dispatchBytes(FarTimers(count))] },
            ]
        )
    }
}

/// How many bytes malloc gives out during a body, for each of some timers.
private func bytes(each count: Int, _ body: () -> Void) -> Double {
    let before = ProcessMemory.allocated
    body()
    return Double(ProcessMemory.allocated - before) / Double(count)
}

/// The thread's end takes the timers away.
private func ourBytes(_ far: FarTimers) -> Double {
    let loop = UVRunLoop.current
    let tally = Tally(0) {}
    return bytes(each: far.count) {
        for delay in far.delays {
            let timer = UVRunLoop.Timer(after: .nanoseconds(delay)) { _ in tally.add() }
            loop.add(timer, forMode: .default)
        }
    }
}

private func cfBytes(_ far: FarTimers) -> Double {
    let (loop, mode) = (CF.loop, CF.defaultMode)
    let tally = Tally(0) {}
    return bytes(each: far.count) {
        for delay in far.delays {
            CFRunLoopAddTimer(loop, CF.timer(after: delay) { _ in tally.add() }, mode)
        }
    }
}

/// In a group of its own, whose end takes the timers away.
private func nioBytes(_ far: FarTimers) -> Double {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let tally = Tally(0) {}
    let future = loop.submit {
        bytes(each: far.count) {
            for delay in far.delays { loop.scheduleTask(in: .nanoseconds(delay)) { tally.add() } }
        }
    }
    let result = NIO.wait(for: future)
    do { try group.syncShutdownGracefully() } catch { fail("SwiftNIO: \(error)") }
    return result
}

private func dispatchBytes(_ far: FarTimers) -> Double {
    let queue = DispatchQueue(label: "bench.memory")
    let tally = Tally(0) {}
    var timers: [any DispatchSourceTimer] = []
    timers.reserveCapacity(far.count)
    // Later measurements would else see this memory go: timers end on another thread, too.
    defer {
        for timer in timers { timer.cancel() }
        timers = []
        queue.sync {}
        usleep(500_000)
    }
    return bytes(each: far.count) {
        for delay in far.delays {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + .nanoseconds(Int(delay)))
            timer.setEventHandler { tally.add() }
            timer.activate()
            timers.append(timer)
        }
        // Timers are scheduled on another thread, some time later.
        usleep(500_000)
    }
}
