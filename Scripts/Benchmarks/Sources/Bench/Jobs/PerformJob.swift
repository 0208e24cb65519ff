import BenchSupport
import CFSupport
import CoreFoundation
import Dispatch
import Foundation
import NIOCore
import RawUV
import Results
import UVRunLoop

extension Job {
    /// Blocks from other threads, handed over one at a time, until all were executed.
    ///
    /// Each captures its number and what counts it.
    static func perform(_ effort: Effort) -> Job {
        let count = effort.choose(1_000_000, quick: 200_000)
        return Job(
            rows: [Row(name: "perform", title: "Blocks from other threads", unit: .perSecond)],
            sizes: effort.choose([1, 4, 8], quick: [1, 4]),
            sizeName: "producers",
            contenders: [
                Contender(.uvRunLoop) { ourBlocks(Handing(count, from: $0)) },
                Contender(.libuv) { producers in
                    let time = raw_uv_perform(CInt(producers), CInt(count / producers))
                    return [Double(count) / (Double(time) / 1e9)]
                },
                Contender(.cfRunLoop) { cfBlocks(Handing(count / 5, from: $0)) },
                Contender(.nio) { nioBlocks(Handing(count, from: $0)) },
                Contender(.dispatch) { dispatchBlocks(Handing(count, from: $0)) },
            ]
        )
    }
}

/// Some threads that hand over blocks, each its share.
private struct Handing {
    let producers: Int
    let share: Int

    init(_ count: Int, from producers: Int) {
        self.producers = producers
        share = count / producers
    }

    var count: Int { producers * share }

    /// Lets the producers begin all at once, and times until everything was executed.
    ///
    /// - Parameters:
    ///   - produce: Hands over the blocks of these numbers.
    ///   - consume: Returns when every block was executed.
    /// - Returns: Blocks a second.
    func measure(
        produce: @escaping @Sendable (Range<Int>) -> Void,
        consume: () -> Void
    ) -> [Double] {
        let gate = Gate(threads: producers + 1)
        let threads = (0..<producers).map { number in
            PosixThread { [share] in
                gate.pass()
                produce(number * share..<(number + 1) * share)
            }
        }
        gate.pass()
        let taken = time(consume)
        threads.forEach { $0.join() }
        return [Double(count) / (taken / 1e9)]
    }
}

private func ourBlocks(_ handing: Handing) -> [Double] {
    let loop = UVRunLoop.current
    let keeper = UVRunLoop.Source { _ in }
    loop.add(keeper, forMode: .default)
    defer { keeper.invalidate() }
    let tally = Tally(handing.count) { loop.stop() }
    defer { tally.check(handing.count) }
    return handing.measure(
        produce: { numbers in for number in numbers { loop.perform { tally.add(number) } } },
        consume: { loop.run() }
    )
}

private func cfBlocks(_ handing: Handing) -> [Double] {
    let loop = Handover(CF.loop)
    let keeper = CF.source()
    CFRunLoopAddSource(loop.value, keeper, CF.defaultMode)
    defer { CFRunLoopSourceInvalidate(keeper) }
    let tally = Tally(handing.count) { CFRunLoopStop(loop.value) }
    defer { tally.check(handing.count) }
    return handing.measure(
        produce: { numbers in
            let mode = CF.defaultMode
            for number in numbers {
                CFRunLoopPerformBlock(loop.value, mode) { tally.add(number) }
                CFRunLoopWakeUp(loop.value)
            }
        },
        consume: { while tally.left > 0 { CFRunLoopRun() } }
    )
}

private func nioBlocks(_ handing: Handing) -> [Double] {
    let loop = NIO.loop
    let isDone = Latch()
    let tally = Tally(handing.count) { isDone.open() }
    defer { tally.check(handing.count) }
    return handing.measure(
        produce: { numbers in for number in numbers { loop.execute { tally.add(number) } } },
        consume: { isDone.wait() }
    )
}

private func dispatchBlocks(_ handing: Handing) -> [Double] {
    let queue = DispatchQueue(label: "bench.perform")
    let isDone = Latch()
    let tally = Tally(handing.count) { isDone.open() }
    defer { tally.check(handing.count) }
    return handing.measure(
        produce: { numbers in for number in numbers { queue.async { tally.add(number) } } },
        consume: { isDone.wait() }
    )
}
