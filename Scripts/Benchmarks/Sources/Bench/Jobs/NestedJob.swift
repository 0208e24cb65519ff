import BenchSupport
import CFSupport
import CoreFoundation
import Foundation
import UVRunLoop

extension Job {
    /// Runs nested n deep, each begun by a block that the one around it executes: the cost of one.
    static func nested(_ effort: Effort) -> Job {
        let count = effort.choose(20_000, quick: 5_000)
        return Job(
            rows: [Row(name: "nested", title: "A nested run that executes one block")],
            sizes: [1, 10, 100],
            sizeName: "runs deep",
            contenders: [
                Contender(.uvRunLoop) { [nestedRuns(count, $0, OurNesting())] },
                Contender(.cfRunLoop) { [nestedRuns(count / 5, $0, CFNesting())] },
            ]
        )
    }

    /// A pass with nothing to do in a run that is nested n deep.
    static func growingDepth(_ effort: Effort) -> Job {
        let count = effort.choose(20_000, quick: 5_000)
        return Job(
            rows: [Row(name: "growth.depth", title: "A pass with nothing to do, n runs deep")],
            sizes: [1, 10, 50, 100],
            sizeName: "runs deep",
            contenders: [
                Contender(.uvRunLoop) { [passesAtDepth($0, count, OurNesting())] },
                Contender(.cfRunLoop) { [passesAtDepth($0, count / 5, CFNesting())] },
            ]
        )
    }
}

/// A loop whose blocks can run it.
private protocol Nesting {
    func perform(_ block: @escaping () -> Void)
    /// Makes one pass, in a run of its own.
    func runOnce()
}

private struct OurNesting: Nesting {
    let loop = UVRunLoop.current

    func perform(_ block: @escaping () -> Void) { loop.performLocally(block) }
    func runOnce() { loop.run(mode: .default, for: .zero) }
}

private struct CFNesting: Nesting {
    let loop = CF.loop
    let mode = CF.defaultMode

    func perform(_ block: @escaping () -> Void) { CFRunLoopPerformBlock(loop, mode, block) }
    func runOnce() { CFRunLoopRunInMode(mode, 0, false) }
}

/// Begins a run in a block of a run, as often as there are levels, and then does something.
private func nest<Loop: Nesting>(_ levels: Int, _ loop: Loop, _ innermost: @escaping () -> Void) {
    loop.perform { levels > 1 ? nest(levels - 1, loop, innermost) : innermost() }
    loop.runOnce()
}

private func nestedRuns<Loop: Nesting>(_ count: Int, _ depth: Int, _ loop: Loop) -> Double {
    let descents = max(count / depth, 1)
    var arrivals = 0
    let taken = time {
        for _ in 0..<descents { nest(depth, loop) { arrivals += 1 } }
    }
    guard arrivals == descents else { fail("a block of a nested run was lost.") }
    return taken / Double(descents * depth)
}

/// The innermost of the runs is one of those whose passes are timed.
private func passesAtDepth<Loop: Nesting>(_ depth: Int, _ count: Int, _ loop: Loop) -> Double {
    var taken = 0.0
    let passes = {
        loop.perform {}
        loop.runOnce()
        taken = time { for _ in 0..<count { loop.runOnce() } }
    }
    if depth > 1 { nest(depth - 1, loop, passes) } else { passes() }
    return taken / Double(count)
}
