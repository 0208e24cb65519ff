import BenchSupport
import CFSupport
import CoreFoundation
import Dispatch
import Foundation
import NIOCore
import RawUV
import Synchronization
import UVRunLoop

extension Job {
    /// One-shot timers 0.3 to 10 ms ahead, one at a time; the date is reckoned before the timer is
    /// made.
    static func latenessIdle(_ effort: Effort) -> Job {
        lateness(effort, "lateness.idle", "Lateness of a timer, machine idle", spinners: 0)
    }

    /// The same beside a thread that keeps a processor busy.
    static func latenessBusy(_ effort: Effort) -> Job {
        lateness(effort, "lateness.busy", "Lateness of a timer, one processor busy", spinners: 1)
    }

    /// The same beside as many such threads as there are processors.
    static func latenessUnderLoad(_ effort: Effort) -> Job {
        lateness(
            effort,
            "lateness.load",
            "Lateness of a timer, every processor busy",
            spinners: Int(sysconf(CInt(_SC_NPROCESSORS_ONLN)))
        )
    }

    private static func lateness(
        _ effort: Effort,
        _ name: String,
        _ title: String,
        spinners: Int
    ) -> Job {
        // The first few warm everything up and are not counted.
        let uncounted = 10
        let count = effort.choose(400, quick: 150) + uncounted
        let delays = Scatter.delays(count, in: 300_000..<10_000_000, seed: 5)
        func beside(_ measure: @escaping ([Int64]) -> [Double]) -> (Int) -> [Double] {
            { _ in
                let values = Spinners.whileSpinning(spinners) { measure(delays) }
                return Array(values.dropFirst(uncounted))
            }
        }
        return Job(
            rows: [Row(name: name, title: title)],
            kind: .distribution,
            warmsUp: false,
            rounds: effort.choose(nil, quick: 1),
            contenders: [
                Contender(.uvRunLoop, beside(ourLateness)),
                Contender(.libuv, beside(libuvLateness)),
                Contender(.cfRunLoop, beside(cfLateness)),
                Contender(.nio, beside(nioLateness)),
                Contender(.dispatch, beside(dispatchLateness)),
            ]
        )
    }
}

/// Threads that do nothing but keep processors busy.
private enum Spinners {
    private final class End: Sendable { let isHere = Atomic<Bool>(false) }

    static func whileSpinning<Value>(_ count: Int, _ body: () -> Value) -> Value {
        let end = End()
        let threads = (0..<count).map { _ in
            PosixThread { while !end.isHere.load(ordering: .relaxed) {} }
        }
        defer {
            end.isHere.store(true, ordering: .relaxed)
            threads.forEach { $0.join() }
        }
        return body()
    }
}

/// The latenesses so far, and what is due next; touched only on the thread where timers fire.
private final class Latenesses: @unchecked Sendable {
    private let delays: [Int64]
    private var due: Int64 = 0
    private(set) var values: [Double] = []

    init(_ delays: [Int64]) { self.delays = delays }

    /// The next date and how far ahead it is; `nil` after the last.
    func next() -> (delay: Int64, due: Int64)? {
        guard values.count < delays.count else { return nil }
        let delay = delays[values.count]
        due = now() + delay
        return (delay, due)
    }

    func noteFire() { values.append(Double(now() - due)) }
}

private func ourLateness(_ delays: [Int64]) -> [Double] {
    let latenesses = Latenesses(delays)
    let loop = UVRunLoop.current
    let epoch = SuspendingClock().systemEpoch
    func addNext() {
        guard let next = latenesses.next() else { return loop.stop() }
        let date = epoch.advanced(by: .nanoseconds(next.due))
        let timer = UVRunLoop.Timer(at: date) { _ in
            latenesses.noteFire()
            addNext()
        }
        loop.add(timer, forMode: .default)
    }
    addNext()
    loop.run()
    return latenesses.values
}

private func libuvLateness(_ delays: [Int64]) -> [Double] {
    var values = [Int64](repeating: 0, count: delays.count)
    raw_uv_lateness(delays, CInt(delays.count), &values)
    return values.map(Double.init)
}

private func cfLateness(_ delays: [Int64]) -> [Double] {
    let latenesses = Latenesses(delays)
    let (loop, mode) = (CF.loop, CF.defaultMode)
    func addNext() {
        guard let next = latenesses.next() else { return CFRunLoopStop(loop) }
        let timer = CF.timer(after: next.delay) { _ in
            latenesses.noteFire()
            addNext()
        }
        CFRunLoopAddTimer(loop, timer, mode)
    }
    addNext()
    while latenesses.values.count < delays.count { CFRunLoopRun() }
    return latenesses.values
}

private func nioLateness(_ delays: [Int64]) -> [Double] {
    let latenesses = Latenesses(delays)
    let isDone = Latch()
    let loop = NIO.loop
    @Sendable func addNext() {
        guard let next = latenesses.next() else { return isDone.open() }
        loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(next.due))) {
            latenesses.noteFire()
            addNext()
        }
    }
    loop.execute { addNext() }
    isDone.wait()
    return latenesses.values
}

private func dispatchLateness(_ delays: [Int64]) -> [Double] {
    let latenesses = Latenesses(delays)
    let isDone = Latch()
    let queue = DispatchQueue(label: "bench.lateness")
    @Sendable func addNext() {
        guard let next = latenesses.next() else { return isDone.open() }
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.schedule(
            deadline: DispatchTime(uptimeNanoseconds: UInt64(next.due)),
            leeway: .nanoseconds(0)
        )
        timer.setEventHandler {
            latenesses.noteFire()
            timer.cancel()
            addNext()
        }
        timer.activate()
    }
    queue.async { addNext() }
    isDone.wait()
    return latenesses.values
}
