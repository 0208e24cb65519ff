import BenchSupport
import CFSupport
import CoreFoundation
import Foundation
import UVRunLoop

extension Job {
    /// One non-blocking pass in each of two modes in turn, with n sources and n timers in each.
    ///
    /// On a thread of its own: there no mode has to do with the main queue, and the thread's end
    /// takes the items away, which CFRunLoop would need a second for one by one.
    static func modes(_ effort: Effort) -> Job {
        let count = effort.choose(20_000, quick: 5_000)
        return Job(
            rows: [Row(name: "modes", title: "Pass in another mode than the one before")],
            sizes: [1, 100, 10_000],
            sizeName: "items",
            contenders: [
                Contender(.uvRunLoop) { items in
                    [onOwnThread { ourPassesInTurn(count, items: items) }]
                },
                Contender(.cfRunLoop) { items in
                    [
                        onOwnThread {
                            cfPassesInTurn(min(count / 5, 2_000_000 / items), items: items)
                        }
                    ]
                },
            ]
        )
    }
}

private func ourPassesInTurn(_ count: Int, items: Int) -> Double {
    let loop = UVRunLoop.current
    let modes = [UVRunLoop.Mode("bench.odd"), UVRunLoop.Mode("bench.even")]
    for mode in modes {
        for _ in 0..<items {
            loop.add(UVRunLoop.Source { _ in }, forMode: mode)
            loop.add(UVRunLoop.Timer(after: .seconds(3600)) { _ in }, forMode: mode)
        }
    }
    return time {
        for _ in 0..<count / 2 {
            loop.run(mode: modes[0], for: .zero)
            loop.run(mode: modes[1], for: .zero)
        }
    } / Double(count)
}

private func cfPassesInTurn(_ count: Int, items: Int) -> Double {
    let loop = CF.loop
    let modes = [CF.mode(named: "bench.odd"), CF.mode(named: "bench.even")]
    for mode in modes {
        for _ in 0..<items {
            CFRunLoopAddSource(loop, CF.source(), mode)
            CFRunLoopAddTimer(loop, CF.timer(after: 3_600_000_000_000) { _ in }, mode)
        }
    }
    return time {
        for _ in 0..<count / 2 {
            CFRunLoopRunInMode(modes[0], 0, false)
            CFRunLoopRunInMode(modes[1], 0, false)
        }
    } / Double(count)
}
