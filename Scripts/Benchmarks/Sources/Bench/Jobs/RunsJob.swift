import BenchSupport
import CFSupport
import CoreFoundation
import Foundation
import UVRunLoop

extension Job {
    /// Signal a source, and run until it is handled, with a limit of ten seconds.
    static func runs(_ effort: Effort) -> Job {
        let count = effort.choose(20_000, quick: 5_000)
        return Job(
            rows: [Row(name: "runs", title: "Run until a signalled source is handled")],
            contenders: [
                Contender(.uvRunLoop) { _ in [ourRuns(count)] },
                Contender(.cfRunLoop) { _ in [cfRuns(count / 5)] },
            ]
        )
    }
}

private func ourRuns(_ count: Int) -> Double {
    let loop = UVRunLoop.current
    let tally = Tally(count) {}
    let source = UVRunLoop.Source { _ in tally.add() }
    loop.add(source, forMode: .default)
    defer { source.invalidate() }
    let taken = time {
        for _ in 0..<count {
            source.signal()
            loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true)
        }
    }
    guard tally.left == 0 else { fail("a run ended before its source was handled.") }
    return taken / Double(count)
}

private func cfRuns(_ count: Int) -> Double {
    let mode = CF.defaultMode
    let tally = Tally(count) {}
    let source = CF.source { tally.add() }
    CFRunLoopAddSource(CF.loop, source, mode)
    defer { CFRunLoopSourceInvalidate(source) }
    let taken = time {
        for _ in 0..<count {
            CFRunLoopSourceSignal(source)
            CFRunLoopRunInMode(mode, 10, true)
        }
    }
    guard tally.left == 0 else { fail("a run ended before its source was handled.") }
    return taken / Double(count)
}
