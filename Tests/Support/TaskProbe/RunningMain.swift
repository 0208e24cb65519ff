import Glibc
import TestSupport
import UVRunLoop

/// Asynchronous functions that a synchronous main function runs.
extension TaskProbe {
    private struct Failure: Error {}

    /// The function's value, and what the loop serves meanwhile.
    static func runFunction() throws {
        let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { _ in
            UVRunLoop.main.stop()
        }
        UVRunLoop.main.add(timer, forMode: .default)
        let value = try UVRunLoop.runMain {
            MainActor.preconditionIsolated()
            try await UVRunLoop.main.sleep(for: .milliseconds(5))
            count += await Task.detached { 41 }.value
            try await Task.sleep(for: .milliseconds(1))
            count += 1
            return count
        }
        tell("\(value)")
    }

    static func runThrowingFunction() {
        do {
            try UVRunLoop.runMain { throw Failure() }
        } catch {
            tell("threw \(error)")
        }
    }

    /// One function after another, and one in a handler of the main loop.
    static func runFunctions() throws {
        for number in 1...3 { tell("\(try UVRunLoop.runMain { number })") }
        UVRunLoop.main.perform {
            tell("\((try? UVRunLoop.runMain { "nested" }) ?? "none")")
            UVRunLoop.main.stop()
        }
        keepAlive()
        UVRunLoop.main.run()
    }

    /// In a job of the main actor, which could not go on.
    static func runFunctionInAJob() throws {
        try UVRunLoop.runMain { runAnother() }
    }

    private static func runAnother() { try? UVRunLoop.runMain { tell("never") } }
}
