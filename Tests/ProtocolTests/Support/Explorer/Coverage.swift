import Glibc
import Testing

@testable import UVRunLoop

/// Scripts of one shape, which are explored one after the other.
struct ScriptFamily: Sendable, CustomStringConvertible, CustomTestStringConvertible {
    let plan: LoopProgram.Plan
    /// How many operations the first sender and the second one have.
    let lengths: (Int, Int)
    let spuriousWakes: UInt8

    /// Each pair of senders once: which is the first makes no difference.
    var scripts: [Script] {
        let firsts = sequences(lengths.0)
        let seconds = sequences(lengths.1)
        return firsts.enumerated().flatMap { index, first in
            seconds.dropFirst(lengths.0 == lengths.1 ? index : 0).map { second in
                Script(plan: plan, senders: [first, second], spuriousWakes: spuriousWakes)
            }
        }
    }

    private func sequences(_ length: Int) -> [[Operation]] {
        guard length > 0 else { return [[]] }
        return sequences(length - 1).flatMap { start in plan.operations.map { start + [$0] } }
    }

    var description: String {
        "\(lengths.0) and \(lengths.1) operations, nested run: \(plan),"
            + " spurious wake-ups: \(spuriousWakes)"
    }

    var testDescription: String { description }
}

/// How much is explored.
///
/// `UVRUNLOOP_EXPLORE` asks for more than every test run explores: `quick`, or `long` for all
/// scripts of two operations a sender.
struct Coverage {
    let scripts: [ScriptFamily]
    let tells: Bool

    static let current = Coverage()

    private init() {
        func families(_ first: Int, _ second: Int, spuriousWakes: UInt8) -> [ScriptFamily] {
            LoopProgram.Plan.all.map {
                ScriptFamily(plan: $0, lengths: (first, second), spuriousWakes: spuriousWakes)
            }
        }
        let form = getenv("UVRUNLOOP_EXPLORE").map { String(cString: $0) }
        tells = form != nil
        #if DEBUG
        // A build that is not optimised explores many times more slowly.
        var scripts = families(1, 0, spuriousWakes: 1)
        #else
        var scripts = families(1, 1, spuriousWakes: 0)
        #endif
        if form != nil {
            scripts = families(1, 1, spuriousWakes: 1) + families(2, 1, spuriousWakes: 0)
        }
        if form == "long" {
            scripts += families(2, 1, spuriousWakes: 1) + families(2, 2, spuriousWakes: 0)
        }
        self.scripts = scripts
    }
}

extension LoopProgram.Plan: CustomStringConvertible {
    static let all = [
        LoopProgram.Plan(),
        LoopProgram.Plan(nested: .onePass, place: .source),
        LoopProgram.Plan(nested: .onePass, place: .observer),
        LoopProgram.Plan(nested: .untilStopped, place: .source),
        LoopProgram.Plan(nested: .untilStopped, place: .observer),
        LoopProgram.Plan(hasTimers: true),
        LoopProgram.Plan(hasTimers: true, hasLimit: true),
    ]

    var description: String {
        let run = nested == .none ? "none" : "\(nested) in \(place)"
        return run + (hasTimers ? ", timers" : "") + (hasLimit ? ", a limit" : "")
    }
}
