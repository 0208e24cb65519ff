import BenchSupport
import CFSupport
import CoreFoundation
import Foundation
import RawUV
import UVRunLoop

extension Job {
    /// One of n sources in the mode is signalled, and a run handles it.
    static func growingSources(_ effort: Effort) -> Job {
        let count = effort.choose(20_000, quick: 5_000)
        return Job(
            rows: [Row(name: "growth.sources", title: "Signal one of n sources and handle it")],
            sizes: effort.choose([1, 10, 100, 1_000, 10_000], quick: [1, 100, 10_000]),
            sizeName: "sources",
            contenders: [
                Contender(.uvRunLoop) { sources in
                    [onOwnThread { ourSignals(count, sources: sources) }]
                },
                Contender(.libuv) { sources in
                    // libuv checks all of its sources for each one that is signalled.
                    let count = min(count, 20_000_000 / sources)
                    let time = raw_uv_wake_one_source_of(CInt(sources), CInt(count))
                    return [Double(time) / Double(count)]
                },
                Contender(.cfRunLoop) { sources in
                    let count = min(count / 5, 5_000_000 / sources)
                    return [onOwnThread { cfSignals(count, sources: sources) }]
                },
            ]
        )
    }

    /// A pass in each of n modes in turn, with one source in each.
    static func growingModes(_ effort: Effort) -> Job {
        let count = effort.choose(20_000, quick: 5_000)
        return Job(
            rows: [Row(name: "growth.modes", title: "A pass in one of n modes")],
            sizes: [1, 10, 100, 1_000],
            sizeName: "modes",
            contenders: [
                Contender(.uvRunLoop) { modes in
                    [onOwnThread { ourPasses(count, modes: modes) }]
                },
                Contender(.cfRunLoop) { modes in
                    [onOwnThread { cfPasses(count / 5, modes: modes) }]
                },
            ]
        )
    }
}

private func ourSignals(_ count: Int, sources: Int) -> Double {
    let loop = UVRunLoop.current
    let tally = Tally(count) {}
    let all = (0..<sources).map { _ in UVRunLoop.Source { _ in tally.add() } }
    for source in all { loop.add(source, forMode: .default) }
    let taken = time {
        for index in 0..<count {
            all[index % sources].signal()
            loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true)
        }
    }
    guard tally.left == 0 else { fail("a run ended before its source was handled.") }
    return taken / Double(count)
}

private func cfSignals(_ count: Int, sources: Int) -> Double {
    let mode = CF.defaultMode
    let tally = Tally(count) {}
    let all = (0..<sources).map { _ in CF.source { tally.add() } }
    for source in all { CFRunLoopAddSource(CF.loop, source, mode) }
    let taken = time {
        for index in 0..<count {
            CFRunLoopSourceSignal(all[index % sources])
            CFRunLoopRunInMode(mode, 10, true)
        }
    }
    guard tally.left == 0 else { fail("a run ended before its source was handled.") }
    return taken / Double(count)
}

private func ourPasses(_ count: Int, modes: Int) -> Double {
    let loop = UVRunLoop.current
    let all = (0..<modes).map { UVRunLoop.Mode("bench.\($0)") }
    for mode in all { loop.add(UVRunLoop.Source { _ in }, forMode: mode) }
    return time {
        for index in 0..<count { loop.run(mode: all[index % modes], for: .zero) }
    } / Double(count)
}

private func cfPasses(_ count: Int, modes: Int) -> Double {
    let all = (0..<modes).map { CF.mode(named: "bench.\($0)") }
    for mode in all { CFRunLoopAddSource(CF.loop, CF.source(), mode) }
    return time {
        for index in 0..<count { CFRunLoopRunInMode(all[index % modes], 0, false) }
    } / Double(count)
}
