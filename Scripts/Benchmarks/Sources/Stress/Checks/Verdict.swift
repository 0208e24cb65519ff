import BenchSupport
import Glibc
import BenchSystem

/// Ends the program with a sentence unless something is as it has to be.
///
/// - Parameters:
///   - holds: What has to be.
///   - expected: How it has to be, to follow the word "expected".
///   - seen: How it is.
@inline(__always)
func demand(
    _ holds: @autoclosure () -> Bool,
    _ expected: @autoclosure () -> String,
    _ seen: @autoclosure () -> String
) {
    if !holds() { Verdict.fail(expected: expected(), seen: seen()) }
}

/// Tells of the first thing that went wrong, and ends the program.
enum Verdict {
    /// The known facts about the run of the program when something goes wrong.
    struct Scene: Sendable {
        var settings: Settings?
        var scenario = 0
        var start = now()
        /// The account of the work done so far.
        var account: @Sendable () -> String = { "" }
    }

    static let scene = Locked(Scene())

    /// Says what was expected and what was seen, and what had been done by then.
    ///
    /// The process ends at once, because nothing after a broken promise can be relied on. A thread
    /// that fails second waits for the end under the lock.
    @inline(never)
    static func fail(expected: String, seen: String) -> Never {
        scene.withLock { scene in
            Output.showProgress("")
            let time = Double(now() - scene.start) / 1e9
            let seed = scene.settings.map { "\($0.seed)" } ?? "none yet"
            Output.complain(
                """
                stress: FAILED. Expected \(expected), but saw \(seen). (Seed \(seed), \
                \(Text.decimal(time, 1)) s, scenario \(scene.scenario), on thread '\(threadName)'.)
                """
            )
            Output.complain(scene.account())
            _exit(1)
        }
    }

    private static var threadName: String {
        var name = [CChar](repeating: 0, count: 16)
        bench_get_thread_name(&name, name.count)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
